/* Writes a buffer with every command to standard output. C11 and C++17. */
#include <dxgsync/softgpu.h>
#include <stdio.h>

int main(void)
{
	static unsigned char memory[4096], small[20];
	struct dxgsync_cmdbuf b;
	size_t i;

	/* Too small: nothing is written beyond, and the size says so. */
	dxgsync_cmdbuf_begin(&b, small, 12);
	dxgsync_cmdbuf_nop(&b);
	dxgsync_cmdbuf_hang(&b);
	if (dxgsync_cmdbuf_size(&b) != 0)
		return 1;
	for (i = 12; i < sizeof small; i++)
		if (small[i] != 0)
			return 1;

	dxgsync_cmdbuf_begin(&b, memory, sizeof memory);
	dxgsync_cmdbuf_nop(&b);
	dxgsync_cmdbuf_write64(&b, 0x1122334455667788u, 0x8877665544332211u);
	dxgsync_cmdbuf_write32(&b, 0x1000u, 0xFFFFFFFEu);
	dxgsync_cmdbuf_copy(&b, 0x2000u, 0x3000u, 1ull << 33);
	dxgsync_cmdbuf_fill(&b, 0x4000u, 0xDEADBEEFu, 5u);
	dxgsync_cmdbuf_delay(&b, 1000000u, 0);
	dxgsync_cmdbuf_delay(&b, 7u, DXGSYNC_DELAY_NOT_PREEMPTIBLE);
	dxgsync_cmdbuf_signal(&b, 0x5000u, UINT64_MAX);
	dxgsync_cmdbuf_signal32(&b, 0x5004u, 9u);
	dxgsync_cmdbuf_wait(&b, 0x5000u, 3u, 0x40000001u);
	dxgsync_cmdbuf_signal_native(&b, 0x5000u, 4u, 0x6000u, 0x40000001u);
	dxgsync_cmdbuf_fault(&b, DXGSYNC_FAULT_DMA, 0);
	dxgsync_cmdbuf_fault(&b, DXGSYNC_FAULT_READ, 0x6000u);
	dxgsync_cmdbuf_fault(&b, DXGSYNC_FAULT_WRITE, 0x7000u);
	dxgsync_cmdbuf_hang(&b);
	return fwrite(memory, 1, dxgsync_cmdbuf_size(&b), stdout) == 0;
}
