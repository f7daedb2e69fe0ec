/* Writes a ring buffer of three entries to standard output, after five were put there. C11
 * and C++17. */
#include <dxgsync/softgpu.h>
#include <stdio.h>

int main(void)
{
	static uint64_t memory[7]; /* half an entry more, which is not used */
	struct dxgsync_ring_control control;
	struct dxgsync_ring r;
	uint64_t i, bell = 0;

	control.fetched = 2;
	dxgsync_ring_begin(&r, memory, sizeof memory, &control);
	for (i = 1; i <= 5; i++)
		dxgsync_doorbell_store(&bell, dxgsync_ring_put(&r, 0x1000u * i, i));
	if (r.entries != 3 || dxgsync_doorbell_load(&bell) != 5 || dxgsync_ring_room(&r) != 0 || memory[6] != 0)
		return 1;
	control.fetched = 4;
	if (dxgsync_ring_room(&r) != 2)
		return 1;
	return fwrite(memory, 1, 48, stdout) == 0;
}
