/* The statuses that this library makes itself. Source: ntstatus.h. */
#ifndef DXG_STATUS_H
#define DXG_STATUS_H

#define ST_SUCCESS              0x00000000u
#define ST_TIMEOUT              0x00000102u
#define ST_PENDING              0x00000103u
#define ST_UNSUCCESSFUL         0xC0000001u
#define ST_NOT_IMPLEMENTED      0xC0000002u
#define ST_ACCESS_VIOLATION     0xC0000005u
#define ST_INVALID_HANDLE       0xC0000008u
#define ST_INVALID_PARAMETER    0xC000000Du
#define ST_NO_MEMORY            0xC0000017u
#define ST_OBJECT_TYPE_MISMATCH 0xC0000024u
#define ST_NOT_SUPPORTED        0xC00000BBu
#define ST_CANCELLED            0xC0000120u
#define ST_DEVICE_REMOVED       0xC00002B6u

#define ST_OK(st) ((int)(st) >= 0)

#endif
