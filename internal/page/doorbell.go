package page

// Where the words of a doorbell are: in the page that its program writes, and, its status,
// at the beginning of the page that only the kernel writes. docs/protocol-wire.md.
const (
	DoorbellAt           = 0
	DoorbellSecondaryAt  = 64
	DoorbellLastQueuedAt = 128
)
