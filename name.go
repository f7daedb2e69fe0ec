package dxgsync

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// Access says what a file that stands for a fence gives whoever opens it: an NT
// access mask.
type Access uint32

// Access masks for fences; other bits of NT's are passed on as they are.
const (
	AccessWait    Access = 0x80000000 // GENERIC_READ: open it and wait
	AccessSignal  Access = 0x40000000 // GENERIC_WRITE: open it and signal
	AccessAll     Access = 0x10000000 // GENERIC_ALL
	AccessMaximum Access = 0x02000000 // MAXIMUM_ALLOWED: whatever the name's Security gives
)

// Security says who may open a name, in the words of Unix. As for a file, only the
// first of owner, group and others that fits counts. Root may do everything, and
// files that stand for a fence, once somebody has them, are not checked any more.
type Security struct {
	UID uint32 // the owner: the user who shares the fence; another only if that is root
	GID uint32 // the group
	// Mode has the nine bits of a file's permission: r lets wait, w lets signal. x
	// means nothing.
	Mode fs.FileMode
}

// SecurityMode is the Security of this process's effective user and group with a
// mode.
func SecurityMode(mode fs.FileMode) *Security {
	return &Security{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: mode}
}

// ShareOptions are for [Fence.ShareWith]. The zero value is that of [Fence.Share].
type ShareOptions struct {
	// Name is a name under which others find the fence: a full one such as
	// `\BaseNamedObjects\Frames`, or a short one, "Frames", which means the same. "":
	// none. Letter case does not count.
	Name string
	// Access is what the file gives; 0 means AccessAll.
	Access Access
	// Security says who may open the name; nil: the user who shares it, and root.
	Security *Security
	// Inherit leaves the file's descriptor open in programs that this process starts.
	Inherit bool
}

// ShareWith is [Fence.Share] with a name, with less access, or with both. The name
// lasts until the last copy of the file is closed, and of every file that
// [Session.OpenName] made of it; views of the fence do not keep it.
//
// Names belong to the kernel: those of a daemon are seen by all its processes, those
// of a kernel inside this process by its one session.
//
// Errors: those of Share; [abi.StatusObjectNameCollision] for a name that is taken;
// [abi.StatusObjectNameInvalid], [abi.StatusObjectPathNotFound] for one that cannot
// be, and [abi.StatusInvalidParameter] for one of more than 32767 UTF-16 units;
// [abi.StatusAccessDenied] for an Access that no fence has;
// [abi.StatusInvalidParameter] for a Security of another user's. With a name, the
// error says which.
//
// D3DKMTShareObjects.
func (f *Fence) ShareWith(opts ShareOptions) (*os.File, error) {
	if f.closed.Load() {
		return nil, ErrClosed
	}
	if opts.Access == 0 {
		opts.Access = AccessAll
	}
	rec := abi.ShareObjects{DesiredAccess: uint32(opts.Access)}
	var attributes *Attributes
	if opts.Name != "" || opts.Security != nil || opts.Inherit {
		attributes = &Attributes{Inherit: opts.Inherit}
		if opts.Name != "" {
			attributes.Name = fullName(opts.Name)
		}
		if s := opts.Security; s != nil {
			attributes.Security = object.MakeDescriptor(s.UID, s.GID, uint16(s.Mode.Perm()))
		}
	}
	fd, st := f.dev.s.ShareObjects(&rec, []abi.Handle{f.handle}, attributes)
	if st != abi.StatusSuccess {
		return nil, f.dev.s.nameFailure("share", opts.Name, st)
	}
	return os.NewFile(uintptr(fd), "fence"), nil
}

// OpenName finds a name and returns a file that stands for what it names, as
// [Fence.Share] does: to open with [Device.OpenShared], or to pass on. The name lasts
// at least as long as the file. A name as in [ShareOptions]; the access is what the
// file will give, and must be given by the name's Security. The caller closes the
// file.
//
// Errors: [abi.StatusObjectNameNotFound] when there is no such name;
// [abi.StatusObjectTypeMismatch] when it names something else than a
// synchronization object; [abi.StatusObjectNameInvalid],
// [abi.StatusObjectPathNotFound] and [abi.StatusInvalidParameter] as
// [Fence.ShareWith]; [abi.StatusAccessDenied] when the access is not given, and for
// none; [abi.StatusNoMemory] at a limit; [abi.StatusDeviceRemoved] after the loss of
// the daemon; [ErrClosed]. The error says which name.
//
// D3DKMTOpenSyncObjectNtHandleFromName.
func (s *Session) OpenName(name string, access Access) (*os.File, error) {
	rec := abi.OpenSyncObjectNtHandleFromName{DwDesiredAccess: uint32(access)}
	fd, st := s.OpenSyncObjectNtHandleFromName(&rec, &Attributes{Name: fullName(name)})
	if st != abi.StatusSuccess {
		return nil, s.nameFailure("open", name, st)
	}
	return os.NewFile(uintptr(fd), "fence"), nil
}

// OpenNamed opens the fence of a name: [Session.OpenName] and [Device.OpenShared]
// in one. The view does not keep the name.
//
// Errors: those of the two.
//
// D3DKMTOpenSyncObjectNtHandleFromName, D3DKMTOpenSyncObjectFromNtHandle2.
func (d *Device) OpenNamed(name string, access Access, opts OpenOptions) (*Fence, error) {
	if d.closed.Load() {
		return nil, ErrClosed
	}
	file, err := d.s.OpenName(name, access)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return d.OpenShared(file, opts)
}

// fullName is the full form of a name: what does not begin at the root begins in the
// directory for all.
func fullName(name string) string {
	if strings.HasPrefix(name, `\`) {
		return name
	}
	return `\BaseNamedObjects\` + name
}

// nameFailure is failure in words that say which name.
func (s *Session) nameFailure(verb, name string, st abi.Status) error {
	err := s.failure(st)
	if err == nil || err == ErrClosed || name == "" && verb == "share" {
		return err
	}
	return fmt.Errorf("%s the name %q: %w", verb, fullName(name), err)
}
