package adapter

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The tables of package abi, read back from compilers, say what the sizes, offsets
// and numbers here must be.

func lines(t *testing.T, table string) [][]string {
	t.Helper()
	f, err := os.Open("../../abi/testdata/" + table)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all [][]string
	s := bufio.NewScanner(f)
	for s.Scan() {
		all = append(all, strings.Split(s.Text(), "\t"))
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// readLayouts returns "RECORD" → size and "RECORD.Field" → offset.
func readLayouts(t *testing.T) map[string]int {
	layouts := map[string]int{}
	record := ""
	for _, l := range lines(t, "layouts-linux64.tsv") {
		if len(l) < 3 {
			continue
		}
		name, number := l[0], l[1]
		if name == "" {
			name, number = record+"."+l[1], l[2]
		} else {
			record = name
		}
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("%q: %v", l, err)
		}
		layouts[name] = n
	}
	return layouts
}

func TestLayouts(t *testing.T) {
	layouts := readLayouts(t)
	records := map[uint32]string{
		1: "D3DKMT_UMDFILENAMEINFO_WCHAR16", 3: "D3DKMT_SEGMENTSIZEINFO", 6: "D3DKMT_ADAPTERADDRESS",
		8: "D3DKMT_ADAPTERREGISTRYINFO_WCHAR16", 17: "D3DKMT_WDDM_1_2_CAPS", 18: "D3DKMT_UMD_DRIVER_VERSION",
		22: "D3DKMT_WDDM_1_3_CAPS", 24: "D3DKMT_WDDM_2_0_CAPS", 25: "D3DKMT_NODEMETADATA_WCHAR16",
		30: "D3DKMT_PHYSICAL_ADAPTER_COUNT", 31: "D3DKMT_QUERY_DEVICE_IDS", 34: "D3DKMT_QUERY_GPUMMU_CAPS",
		48: "D3DDDI_QUERYREGISTRY_INFO_WCHAR16", 49: "D3DKMT_KMD_DRIVER_VERSION", 54: "D3DKMT_ADAPTERREGISTRYINFO_WCHAR16",
		60: "D3DKMT_QUERY_ADAPTER_UNIQUE_GUID_WCHAR16", 65: "D3DKMT_DRIVER_DESCRIPTION_WCHAR16",
		70: "D3DKMT_WDDM_2_7_CAPS", 75: "D3DKMT_WDDM_2_9_CAPS", 76: "D3DKMT_CROSSADAPTERRESOURCE_SUPPORT",
		77: "D3DKMT_WDDM_3_0_CAPS", 80: "D3DKMT_WDDM_3_1_CAPS",
	}
	for typ, record := range records {
		if size, ok := layouts[record]; !ok || size != queries[typ].size {
			t.Errorf("%s: %d bytes here, %s has %d", queries[typ].name, queries[typ].size, record, size)
		}
	}
	offsets := map[string]int{
		"D3DKMT_UMDFILENAMEINFO_WCHAR16.UmdFileName":             4,
		"D3DKMT_SEGMENTSIZEINFO.SharedSystemMemorySize":          16,
		"D3DKMT_ADAPTERADDRESS.FunctionNumber":                   8,
		"D3DKMT_ADAPTERREGISTRYINFO_WCHAR16.BiosString":          2 * pathChars,
		"D3DKMT_ADAPTERREGISTRYINFO_WCHAR16.ChipType":            6 * pathChars,
		"D3DKMT_WDDM_1_2_CAPS.Value":                             8,
		"D3DKMT_NODEMETADATA_WCHAR16.NodeData":                   4,
		"D3DKMT_NODEMETADATA_WCHAR16.NodeData.FriendlyName":      8,
		"D3DKMT_NODEMETADATA_WCHAR16.NodeData.Flags":             72,
		"D3DKMT_NODEMETADATA_WCHAR16.NodeData.GpuMmuSupported":   76,
		"D3DKMT_NODEMETADATA_WCHAR16.NodeData.IoMmuSupported":    77,
		"D3DKMT_QUERY_DEVICE_IDS.DeviceIds.VendorID":             4,
		"D3DKMT_QUERY_DEVICE_IDS.DeviceIds.BusType":              24,
		"D3DKMT_QUERY_GPUMMU_CAPS.Caps.Flags":                    4,
		"D3DKMT_QUERY_GPUMMU_CAPS.Caps.VirtualAddressBitCount":   8,
		"D3DDDI_QUERYREGISTRY_INFO_WCHAR16.QueryFlags":           regQueryFlags,
		"D3DDDI_QUERYREGISTRY_INFO_WCHAR16.ValueName":            regValueName,
		"D3DDDI_QUERYREGISTRY_INFO_WCHAR16.ValueType":            regValueType,
		"D3DDDI_QUERYREGISTRY_INFO_WCHAR16.PhysicalAdapterIndex": regPhysicalIndex,
		"D3DDDI_QUERYREGISTRY_INFO_WCHAR16.OutputValueSize":      regOutputSize,
		"D3DDDI_QUERYREGISTRY_INFO_WCHAR16.Status":               regStatus,
		"D3DDDI_QUERYREGISTRY_INFO_WCHAR16.OutputString":         regOutput,
	}
	for field, offset := range offsets {
		if at, ok := layouts[field]; !ok || at != offset {
			t.Errorf("%s: at %d here, in the table at %d (there: %v)", field, offset, at, ok)
		}
	}
}

func TestQueryNumbers(t *testing.T) {
	numbers := map[string]string{}
	for _, l := range lines(t, "constants.tsv") {
		if len(l) >= 2 {
			numbers[l[0]] = l[1]
		}
	}
	for typ, q := range queries {
		if q.answer == nil {
			continue
		}
		if got := numbers["KMTQAITYPE_"+q.name]; got != strconv.Itoa(typ) {
			t.Errorf("KMTQAITYPE_%s is %d here, %q in the table", q.name, typ, got)
		}
	}
}
