package decode

import (
	"slices"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

func TestStatusIsReadInEveryForm(t *testing.T) {
	for _, text := range []string{"0xC0000022", "0xc0000022", "C0000022", "c0000022", "3221225506", "-1073741790", "STATUS_ACCESS_DENIED", "access_denied", " 0xC0000022 "} {
		s, err := ParseStatus(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if s.Name != "STATUS_ACCESS_DENIED" || s.Value != "0xC0000022" || s.Signed != -1073741790 || s.Severity != "error" || s.Success || s.Errno != "EACCES" || s.Back != s.Name || s.Code != 0x22 {
			t.Errorf("%q: %+v", text, s)
		}
	}
}

func TestStatusesAreExplained(t *testing.T) {
	for _, c := range []struct {
		text, name, severity, facility, errno, back string
		success                                     bool
	}{
		{"0", "STATUS_SUCCESS", "success", "none", "", "", true},
		{"0x102", "STATUS_TIMEOUT", "success", "none", "", "", true},
		{"0x40000000", "STATUS_OBJECT_NAME_EXISTS", "informational", "none", "", "", true},
		{"0x80000005", "STATUS_BUFFER_OVERFLOW", "warning", "none", "EINVAL", "STATUS_INVALID_PARAMETER", false},
		{"0xC01E0200", "STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE", "error", "graphics kernel", "EINVAL", "STATUS_INVALID_PARAMETER", false},
		{"0xC0000034", "STATUS_OBJECT_NAME_NOT_FOUND", "error", "none", "ENOENT", "STATUS_OBJECT_NAME_INVALID", false},
		{"0xC0350001", "", "error", "0x35", "EINVAL", "STATUS_INVALID_PARAMETER", false},
	} {
		s, err := ParseStatus(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != c.name || s.Severity != c.severity || s.FacilityName() != c.facility || s.Errno != c.errno || s.Back != c.back || s.Success != c.success || (s.Meaning == "") != (c.name == "") {
			t.Errorf("%s: %+v", c.text, s)
		}
	}
}

func TestCallsThatAlwaysAnswerAStatus(t *testing.T) {
	s, _ := ParseStatus("STATUS_NOT_IMPLEMENTED")
	if !slices.Equal(s.Calls, []string{"D3DKMTCreateHwContext", "D3DKMTDestroyHwContext"}) {
		t.Errorf("not implemented: %v", s.Calls)
	}
	if s, _ := ParseStatus("STATUS_INVALID_PARAMETER"); s.Calls != nil {
		t.Errorf("every call answers it: %v", s.Calls)
	}
}

func TestStatusesThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":              "is no number",
		"0x1C0000022":   "has more than 32 bits",
		"STATUS_SIGNED": `no status is called "STATUS_SIGNED" here; give its number`,
		"NOT_SUPPORT":   "there is STATUS_NOT_SUPPORTED; give its number",
		"denied":        "there is STATUS_ACCESS_DENIED, STATUS_GRAPHICS_PRESENT_DENIED; give",
		"-3000000000":   "is no number",
	} {
		if _, err := ParseStatus(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Every errno that a status maps to has its name here.
func TestErrnosHaveNames(t *testing.T) {
	for _, s := range abi.Statuses() {
		if e := s.Errno(); e != 0 && errnoNames[e] == "" {
			t.Errorf("%s: errno %d has no name", s.Name(), int(e))
		}
	}
}
