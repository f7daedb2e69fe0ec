package vidsch

import (
	"slices"

	"github.com/dxgsync/dxgsync/ddi"
)

// Lose drops everything of the device: it is lost. It gets no further packets.
func (d *Device) Lose(why Why) {
	if d.lost {
		return
	}
	d.lost = true
	for _, c := range d.contexts {
		for _, q := range c.queues {
			q.drop(why)
		}
		c.clear()
	}
}

// Hold lets nothing more of the device go on: it is about to be lost. What it has at the
// GPU runs out.
func (d *Device) Hold() {
	d.held = true
	for _, c := range d.contexts {
		for _, q := range c.queues {
			c.engine.leave(q)
		}
	}
}

// Destroy takes the device away with all its contexts.
func (d *Device) Destroy(why Why) {
	if d.gone {
		return
	}
	d.gone = true
	for _, c := range slices.Backward(slices.Clone(d.contexts)) {
		c.Destroy(why)
	}
	d.finish()
}

// Destroy takes the context away with its queues. The driver's side goes when nothing of
// it is at the GPU any more.
func (c *Context) Destroy(why Why) {
	if c.gone {
		return
	}
	c.gone = true
	for _, q := range c.queues {
		q.drop(why)
	}
	c.clear()
	c.finish()
}

// Destroy takes a hardware queue away.
func (q *Queue) Destroy(why Why) {
	if q.destroyed {
		return
	}
	q.destroyed = true
	q.drop(why)
	if q.flies() && !q.context.suspend.good {
		q.context.leave() // what it has at the GPU is forgotten when the context is off
	}
	q.finish()
}

// finish tells the driver that a hardware queue is gone, once nothing of it flies.
func (q *Queue) finish() {
	c := q.context
	if !q.hardware() || q.finished || !q.destroyed && !c.gone || q.flies() {
		return
	}
	q.finished = true
	if kmd := q.Kmd; kmd != 0 {
		q.scheduler().call(func(d ddi.Driver) { d.DestroyHwQueue(kmd) })
	}
	if q.Freed != nil {
		q.Freed()
	}
	c.engine.hw.forgetUser(q)
	c.queues = slices.DeleteFunc(slices.Clone(c.queues), func(o *Queue) bool { return o == q })
}

// finish is the same for a context.
func (c *Context) finish() {
	if !c.gone || c.finished {
		return
	}
	for _, q := range slices.Clone(c.queues) {
		q.finish()
	}
	if slices.ContainsFunc(c.queues, (*Queue).flies) {
		return
	}
	c.finished = true
	d := c.device
	if i := slices.Index(d.contexts, c); i >= 0 {
		d.contexts = slices.Delete(d.contexts, i, i+1)
	}
	if kmd := c.Kmd; kmd != 0 {
		d.scheduler.call(func(drv ddi.Driver) { drv.DestroyContext(kmd) })
	}
	if c.suspend.state == leaving { // there is nothing left of it to answer
		e := c.engine
		c.suspend.state = off
		e.hw.leaving = slices.DeleteFunc(e.hw.leaving, func(o *Context) bool { return o == c })
		e.resume()
	}
	if c.Freed != nil {
		c.Freed()
	}
	d.finish()
}

// finish is the same for a device.
func (d *Device) finish() {
	if !d.gone || d.finished || len(d.contexts) > 0 {
		return
	}
	d.finished = true
	if kmd := d.Kmd; kmd != 0 {
		d.scheduler.call(func(drv ddi.Driver) { drv.DestroyDevice(kmd) })
	}
	if d.Freed != nil {
		d.Freed()
	}
}
