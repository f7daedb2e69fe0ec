package torture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
)

// Descriptors of a cycler, from 3 on.
const (
	cyclerIn     = 3 + iota // what the one before passes on
	cyclerOut               // to the one behind
	cyclerReport            // a byte, its number, for every step
	cyclerOrders            // a cyclerJob, then a byte: compare; then the end: leave
)

// A cyclerJob is what a cycler has to do.
type cyclerJob struct{ number, steps, cycles uint32 }

func (j *cyclerJob) decode(b []byte) {
	for i, field := range []*uint32{&j.number, &j.steps, &j.cycles} {
		*field = binary.LittleEndian.Uint32(b[4*i:])
	}
}

func (j *cyclerJob) encode() (b []byte) {
	for _, field := range []uint32{j.number, j.steps, j.cycles} {
		b = binary.LittleEndian.AppendUint32(b, field)
	}
	return b
}

// passEvery is how many cycles there are between two things passed on.
const passEvery = 61

const genericAll = 0x10000000

// A cycler makes things, shares them, opens what it has shared and lets go of all of
// it. Now and then it passes something on instead, and lets go of that the next time.
type cycler struct {
	s       *dxgsync.Session
	d       *dxgsync.Device
	job     cyclerJob
	cycles  int
	foreign int    // things of others that it opened
	keep    func() // lets go of what was passed on
	err     error
}

// cycleFailed is the report of one that failed.
const cycleFailed = 0xFF

func cycle(socket string) error {
	err := doCycles(socket)
	if err != nil {
		_, _ = unix.Write(cyclerReport, []byte{cycleFailed})
	}
	return err
}

// doCycles does the job, sees that it holds nothing more than at first, and waits to
// be looked at.
func doCycles(socket string) error {
	s, err := dxgsync.Open(dxgsync.WithDaemon(socket))
	if err != nil {
		return err
	}
	c := &cycler{s: s, keep: func() {}}
	if c.d, err = s.NewDevice(); err != nil {
		return err
	}
	var order [12]byte
	if _, err := unix.Read(cyclerOrders, order[:]); err != nil {
		return err
	}
	c.job.decode(order[:])
	c.all()
	var before map[string]int
	if err := until(func() error {
		runtime.GC() // gives back the mappings of fences that were closed
		before, err = holdings("self")
		if err == nil && before[fenceMapping] != 0 {
			err = errors.New("the mapping of a closed fence stays")
		}
		return err
	}); err != nil {
		return err
	}
	for range c.job.steps {
		for range c.job.cycles {
			c.one()
		}
		if err := c.report(); err != nil {
			return err
		}
	}
	if err := c.order(); err != nil {
		return err
	}
	c.keep()
	c.receive()
	if err := until(func() error {
		runtime.GC()
		return same(before, "self")
	}); err != nil {
		return err
	}
	if c.job.steps*c.job.cycles > 100*passEvery && c.foreign == 0 {
		return errors.New("nothing that others passed on could be opened")
	}
	if err := c.report(); err != nil {
		return err
	}
	return c.order()
}

func (c *cycler) report() error {
	if c.err == nil {
		_, c.err = unix.Write(cyclerReport, []byte{byte(c.job.number)})
	}
	return c.err
}

// order waits for the next order, or the end of them.
func (c *cycler) order() error {
	_, err := unix.Read(cyclerOrders, make([]byte, 1))
	return err
}

// want notes the first status that is none of those expected.
func (c *cycler) want(what string, st abi.Status, expected ...abi.Status) {
	for _, e := range expected {
		if st == e {
			return
		}
	}
	if st != abi.StatusSuccess && c.err == nil {
		c.err = fmt.Errorf("cycle %d: %s: %w", c.cycles, what, st)
	}
}

// The kinds of cycles, by how they come round.
var cycleKinds = [...]func(c *cycler, pass bool){
	(*cycler).fence, (*cycler).global, (*cycler).legacy, (*cycler).keyed,
	(*cycler).named, (*cycler).global, (*cycler).legacy, (*cycler).bundle, (*cycler).resource,
}

func (c *cycler) one() {
	if c.err != nil {
		return
	}
	c.cycles++
	pass := c.cycles%passEvery == 0
	if pass {
		c.keep()
		c.keep = func() {}
		c.receive()
	}
	cycleKinds[c.cycles%len(cycleKinds)](c, pass)
}

// all goes through every kind once.
func (c *cycler) all() {
	for range cycleKinds {
		c.one()
	}
}

// fence is a monitored fence, in memory that is mapped twice.
func (c *cycler) fence(pass bool) {
	f, err := c.d.NewFence(dxgsync.FenceOptions{Shared: true})
	if err != nil {
		c.err = err
		return
	}
	file, err := f.Share()
	if err != nil {
		c.err = err
		return
	}
	if pass {
		c.send(passFence, nil, int(file.Fd()))
	}
	g, err := c.d.OpenShared(file, dxgsync.OpenOptions{})
	if err == nil {
		err = errors.Join(f.Signal(1), g.Signal(2))
		if f.Value() != 2 {
			err = fmt.Errorf("the fence is at %d", f.Value())
		}
		err = errors.Join(err, g.Close())
	}
	c.err = errors.Join(c.err, err, f.Close(), file.Close())
}

// plain makes one of the kinds without memory.
func (c *cycler) plain(flags abi.SyncObjectFlags) (local, global abi.Handle) {
	rec := abi.CreateSynchronizationObject2{HDevice: c.d.Handle()}
	rec.Info.Flags = flags
	rec.Info.Type = [...]abi.SyncObjectType{abi.SynchronizationMutex, abi.Semaphore, abi.Fence}[c.cycles/2%3]
	if rec.Info.Type == abi.Semaphore {
		rec.Info.Semaphore().MaxCount = 3
	}
	c.want("create", c.s.CreateSynchronizationObject2(&rec))
	return rec.HSyncObject, rec.Info.SharedHandle
}

func (c *cycler) drop(h abi.Handle) {
	c.want("destroy", c.s.DestroySynchronizationObject(&abi.DestroySynchronizationObject{HSyncObject: h}))
}

// share makes an NT handle; under a name, if there is one.
func (c *cycler) share(name string, objects ...abi.Handle) int {
	var attributes *dxgsync.Attributes
	if name != "" {
		attributes = &dxgsync.Attributes{Name: name}
	}
	fd, st := c.s.ShareObjects(&abi.ShareObjects{DesiredAccess: genericAll}, objects, attributes)
	c.want("share", st)
	return fd
}

// open opens an NT handle of a kind without memory and lets go of it.
func (c *cycler) open(fd int) {
	rec := abi.OpenSyncObjectFromNtHandle2{HDevice: c.d.Handle(), HNtHandle: uint64(fd)}
	c.want("open", c.s.OpenSyncObjectFromNtHandle2(&rec))
	c.drop(rec.HSyncObject)
}

const ntShared = abi.SyncObjectShared | abi.SyncObjectNtSecuritySharing

func (c *cycler) legacy(pass bool) {
	h, _ := c.plain(ntShared)
	fd := c.share("", h)
	if pass {
		c.send(passPlain, nil, fd)
	}
	c.open(fd)
	_ = unix.Close(fd)
	c.drop(h)
}

func (c *cycler) global(pass bool) {
	h, g := c.plain(abi.SyncObjectShared)
	rec := abi.OpenSynchronizationObject{HSharedHandle: g}
	c.want("open by number", c.s.OpenSynchronizationObject(&rec))
	c.drop(h)
	if pass {
		c.send(passGlobal, binary.LittleEndian.AppendUint32(nil, uint32(g)))
		c.keep = func() { c.drop(rec.HSyncObject) }
		return
	}
	c.drop(rec.HSyncObject)
}

func (c *cycler) named(pass bool) {
	h, _ := c.plain(ntShared)
	name := fmt.Sprintf(`\BaseNamedObjects\Cycle-%d-%d-%d`, os.Getpid(), c.job.number, c.cycles)
	first := c.share(name, h)
	second, st := c.fromName(name)
	c.want("open by name", st)
	_ = unix.Close(first)
	c.open(second)
	c.drop(h)
	if pass {
		c.send(passName, []byte(name))
		c.keep = func() { _ = unix.Close(second) }
		return
	}
	_ = unix.Close(second)
}

func (c *cycler) fromName(name string) (fd int, st abi.Status) {
	return c.s.OpenSyncObjectNtHandleFromName(&abi.OpenSyncObjectNtHandleFromName{DwDesiredAccess: genericAll}, &dxgsync.Attributes{Name: name})
}

func (c *cycler) keyed(bool) {
	rec := abi.CreateKeyedMutex2{InitialValue: 7}
	c.want("create keyed mutex", c.s.CreateKeyedMutex2(&rec, []byte("runtime")))
	again := abi.OpenKeyedMutex{HSharedHandle: rec.HSharedHandle}
	c.want("open keyed mutex", c.s.OpenKeyedMutex(&again))
	for _, h := range []abi.Handle{rec.HKeyedMutex, again.HKeyedMutex} {
		c.want("destroy keyed mutex", c.s.DestroyKeyedMutex(&abi.DestroyKeyedMutex{HKeyedMutex: h}))
	}
}

// newResource makes a resource of one allocation.
func (c *cycler) newResource(flags abi.CreateAllocationFlags) (local, global abi.Handle) {
	rec := abi.CreateAllocation2{HDevice: c.d.Handle(), Flags: flags | abi.AllocationCreateResource | abi.AllocationCreateShared}
	c.want("create resource", c.s.CreateAllocation2(&rec, make([]abi.AllocationInfo2, 1), dxgsync.AllocationData{Runtime: []byte("resource")}))
	return rec.HResource, rec.HGlobalShare
}

func (c *cycler) dropResource(h abi.Handle) {
	c.want("destroy resource", c.s.DestroyAllocation2(&abi.DestroyAllocation2{HDevice: c.d.Handle(), HResource: h}, nil))
}

func (c *cycler) resource(bool) {
	h, g := c.newResource(0)
	rec := abi.OpenResource{HDevice: c.d.Handle(), HGlobalShare: g}
	c.want("open resource", c.s.OpenResource(&rec, make([]abi.OpenAllocationInfo2, 1), dxgsync.ResourceData{Runtime: make([]byte, 8)}))
	c.dropResource(h)
	c.dropResource(rec.HResource)
}

// bundle is a resource, a keyed mutex and a mutex in one NT handle.
func (c *cycler) bundle(pass bool) {
	h, _ := c.newResource(abi.AllocationNtSecuritySharing)
	mutex := abi.CreateKeyedMutex2{Flags: abi.KeyedMutexNtSecuritySharing}
	c.want("create keyed mutex", c.s.CreateKeyedMutex2(&mutex, nil))
	sync, _ := c.plain(ntShared)
	fd := c.share("", h, mutex.HKeyedMutex, sync)
	if pass {
		c.send(passBundle, nil, fd)
	}
	c.dropResource(h)
	c.want("destroy keyed mutex", c.s.DestroyKeyedMutex(&abi.DestroyKeyedMutex{HKeyedMutex: mutex.HKeyedMutex}))
	c.drop(sync)
	c.openBundle(fd)
	_ = unix.Close(fd)
}

func (c *cycler) openBundle(fd int) {
	rec := abi.OpenResourceFromNtHandle{HDevice: c.d.Handle(), HNtHandle: uint64(fd)}
	c.want("open bundle", c.s.OpenResourceFromNtHandle(&rec, make([]abi.OpenAllocationInfo2, 1), dxgsync.ResourceData{Runtime: make([]byte, 8)}))
	c.dropResource(rec.HResource)
	c.want("destroy keyed mutex", c.s.DestroyKeyedMutex(&abi.DestroyKeyedMutex{HKeyedMutex: rec.HKeyedMutex}))
	c.drop(rec.HSyncObject)
}

// What one cycler passes on to the next, as the first byte of a message.
const (
	passFence = iota
	passPlain
	passBundle
	passGlobal
	passName
)

// send passes something on, unless the next one has enough to do.
func (c *cycler) send(what byte, text []byte, fds ...int) {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	err := unix.Sendmsg(cyclerOut, append([]byte{what}, text...), rights, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	if err != nil && err != unix.EAGAIN {
		c.err = errors.Join(c.err, fmt.Errorf("pass on: %w", err))
	}
}

// receive opens everything that was passed on, and lets go of it. A descriptor keeps
// what it stands for; a number or a name may be gone with who sent it.
func (c *cycler) receive() {
	text, rights := make([]byte, 256), make([]byte, 64)
	for {
		n, more, _, _, err := unix.Recvmsg(cyclerIn, text, rights, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
		if err != nil || n == 0 {
			return
		}
		fd := -1
		if list, err := unix.ParseSocketControlMessage(rights[:more]); err == nil && len(list) == 1 {
			if fds, err := unix.ParseUnixRights(&list[0]); err == nil {
				fd = fds[0]
			}
		}
		c.foreign++
		switch what := text[1:n]; text[0] {
		case passFence:
			rec := abi.OpenSyncObjectFromNtHandle2{HDevice: c.d.Handle(), HNtHandle: uint64(fd)}
			c.want("open what was passed on", c.s.OpenSyncObjectFromNtHandle2(&rec))
			c.drop(rec.HSyncObject)
		case passPlain:
			c.open(fd)
		case passBundle:
			c.openBundle(fd)
		case passGlobal:
			rec := abi.OpenSynchronizationObject{HSharedHandle: abi.Handle(binary.LittleEndian.Uint32(what))}
			st := c.s.OpenSynchronizationObject(&rec)
			c.want("open the number of another", st, abi.StatusInvalidParameter)
			if st.OK() {
				c.drop(rec.HSyncObject)
			}
		case passName:
			var st abi.Status
			fd, st = c.fromName(string(what))
			c.want("open the name of another", st, abi.StatusObjectNameNotFound)
			if st.OK() {
				c.open(fd)
			}
		}
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
