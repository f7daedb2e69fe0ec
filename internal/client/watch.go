package client

import "golang.org/x/sys/unix"

// watch waits for the daemon to hang up. fd is the watcher's own descriptor of the
// first session; only a hang-up wakes it, not the answers that pass.
func (c *Conn) watch(fd int) {
	defer close(c.watched)
	defer unix.Close(fd)
	set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	for {
		n, err := unix.Poll(set, -1)
		if err == unix.EINTR || err == nil && n == 0 {
			continue
		}
		c.die(true)
		return
	}
}

// die ends the connection once: whoever calls it, it returns after the bells have
// rung. When the daemon is lost, every value is made the highest there is first; at
// an orderly end the pages are left alone, since they are other processes' too.
func (c *Conn) die(lost bool) {
	c.once.Do(func() {
		c.mu.Lock()
		c.dead.Store(true)
		for s := range c.open {
			s.link.Shutdown() // whoever is in a call returns and closes it
		}
		for _, s := range c.idle {
			delete(c.open, s)
			s.close()
		}
		c.idle = nil
		c.wakeAll()
		c.mu.Unlock()

		if lost {
			c.memory.saturateAll()
		}
		c.ringAll()

		c.mu.Lock()
		close(c.death)
		told := c.onDeath
		c.onDeath = nil
		c.mu.Unlock()
		for _, f := range told {
			f()
		}
	})
}
