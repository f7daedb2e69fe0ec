#include "textflag.h"

// func pause()
TEXT ·pause(SB), NOSPLIT, $0-0
	ISB $15
	RET
