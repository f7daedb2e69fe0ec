package object

// A quota bounds something that all users make, so that none can take it from the
// others: the last quarter is not for a user who already has three.
type quota struct {
	most, used int
	users      map[uint32]int
}

func newQuota(most int) quota { return quota{most: most, users: map[uint32]int{}} }

// room reports whether a user may have n more.
func (q *quota) room(uid uint32, n int) bool {
	return n <= q.most-q.used && n <= q.most-q.most/4-q.users[uid]
}

// add gives a user n more, or takes them back when n is negative.
func (q *quota) add(uid uint32, n int) {
	q.used += n
	q.users[uid] += n
	if q.users[uid] == 0 {
		delete(q.users, uid)
	}
}
