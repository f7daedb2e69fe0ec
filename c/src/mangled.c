/* Eight functions that the public library offers under their C++ names only, so
 * that is how binaries built against it know them: the argument is a pointer to
 * struct _D3DKMT_…, which may be const. Their C names are in api.c. */
#include "inside.h"

static int32_t call(const char *name, void *argument) { return (int32_t)dxg_call(dxg_op_named(name), argument); }

#define CXX(name, plain, constant)                                                   \
	DXG_EXPORT int32_t plain(void *argument) { return call("D3DKMT" #name, argument); } \
	DXG_EXPORT int32_t constant(void *argument) { return call("D3DKMT" #name, argument); }

CXX(PinResources, _Z18D3DKMTPinResourcesP20_D3DKMT_PINRESOURCES, _Z18D3DKMTPinResourcesPK20_D3DKMT_PINRESOURCES)
CXX(UnpinResources, _Z20D3DKMTUnpinResourcesP22_D3DKMT_UNPINRESOURCES, _Z20D3DKMTUnpinResourcesPK22_D3DKMT_UNPINRESOURCES)
CXX(CreateTrackedWorkload, _Z27D3DKMTCreateTrackedWorkloadP29_D3DKMT_CREATETRACKEDWORKLOAD, _Z27D3DKMTCreateTrackedWorkloadPK29_D3DKMT_CREATETRACKEDWORKLOAD)
CXX(DestroyTrackedWorkload, _Z28D3DKMTDestroyTrackedWorkloadP30_D3DKMT_DESTROYTRACKEDWORKLOAD, _Z28D3DKMTDestroyTrackedWorkloadPK30_D3DKMT_DESTROYTRACKEDWORKLOAD)
CXX(UpdateTrackedWorkload, _Z27D3DKMTUpdateTrackedWorkloadP29_D3DKMT_UPDATETRACKEDWORKLOAD, _Z27D3DKMTUpdateTrackedWorkloadPK29_D3DKMT_UPDATETRACKEDWORKLOAD)
CXX(GetTrackedWorkloadStatistics, _Z34D3DKMTGetTrackedWorkloadStatisticsP36_D3DKMT_GETTRACKEDWORKLOADSTATISTICS, _Z34D3DKMTGetTrackedWorkloadStatisticsPK36_D3DKMT_GETTRACKEDWORKLOADSTATISTICS)
CXX(ResetTrackedWorkloadStatistics, _Z36D3DKMTResetTrackedWorkloadStatisticsP38_D3DKMT_RESETTRACKEDWORKLOADSTATISTICS, _Z36D3DKMTResetTrackedWorkloadStatisticsPK38_D3DKMT_RESETTRACKEDWORKLOADSTATISTICS)
CXX(GetAvailableTrackedWorkloadIndex, _Z38D3DKMTGetAvailableTrackedWorkloadIndexP40_D3DKMT_GETAVAILABLETRACKEDWORKLOADINDEX, _Z38D3DKMTGetAvailableTrackedWorkloadIndexPK40_D3DKMT_GETAVAILABLETRACKEDWORKLOADINDEX)
