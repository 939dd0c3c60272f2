package attention

import (
	"cmp"
	"slices"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A Kind is why something is in a person's list.
type Kind string

// Kinds. Those of Informs come after those that need the person.
const (
	Reviews    Kind = "reviews"    // applications wait for a review by an administrator
	Publishers Kind = "publishers" // publishers do
	BrandDraft Kind = "brand"      // a draft of the brand is not published
	Review     Kind = "review"     // an application waits for a review: one of Reviews
	Publisher  Kind = "publisher"  // a publisher does: one of Publishers

	Offered    Kind = "offered"   // an application is offered to the person
	Rejected   Kind = "rejected"  // the person's application was rejected
	Suspended  Kind = "suspended" // it was suspended
	NoSecret   Kind = "no-secret" // it is approved, and has no secret to authenticate with
	SecretEnds Kind = "secret"    // one of its secrets is about to end
	Refused    Kind = "refused"   // changes of it were rejected

	AppSuspended Kind = "app-suspended" // a connected application is suspended
	AppShared    Kind = "app-shared"    // two copies of a connected application use one sign-in

	Waiting Kind = "waiting" // the person's application, or changes of it, wait for a review
	Legacy  Kind = "legacy"  // it has not been limited to scopes
)

// Informs reports whether the person has nothing to do.
func (k Kind) Informs() bool { return k == Waiting || k == Legacy || k == AppSuspended }

// An Item is an entry of a person's list.
type Item struct {
	Kind   Kind
	Client *ledger.Client // that it is about; nil for those of administrators
	Since  ledger.Time    // 0 if it is not known
	Count  int            // for Reviews and Publishers: how many wait, MaxCount+1 for more
	Secret *ledger.Secret // for SecretEnds
	Place  ledger.Position

	Publisher *ledger.Publisher // for Publisher
}

const (
	// MaxCount is the largest number that is counted.
	MaxCount = 99

	maxItems   = 25     // of each half of a list
	maxPlaces  = 5      // positions in the queue, each of which takes a walk of it
	maxOwned   = 12_000 // clients that are read; about a millisecond
	maxFound   = 500    // items of an owner, which are sorted
	endsWithin = 7 * 24 * time.Hour
)

// CountReviews returns how many clients and publishers wait for a review, or MaxCount+1 for more.
func CountReviews(v ledger.View, _ *ledger.User, _ ledger.Time) int {
	n := v.CountWaiting(MaxCount + 1)
	if n <= MaxCount {
		n += CountPublishers(v)
	}
	return n
}

// CountPublishers returns how many publishers wait for a review.
func CountPublishers(v ledger.View) int {
	n, _ := publishers(v)
	return n
}

// CountApplications returns how many items there are about applications that a user owns or is
// offered, apart from those that only inform; or more than MaxCount.
func CountApplications(v ledger.View, u *ledger.User, now ledger.Time) int {
	offered, _ := v.OfferedTo(ledger.OfferQuery{User: u.ID, Limit: MaxCount + 1})
	n, read := len(offered), 0
	for c := range v.NeedOwner(u.ID) {
		if read++; read > maxOwned || n > MaxCount {
			break
		}
		n += len(needs(c, now))
	}
	return n
}

// publishers returns how many publishers wait for a review, and since when the first one does.
func publishers(v ledger.View) (n int, since ledger.Time) {
	if !v.Settings().AcceptsAgents() {
		return 0, 0
	}
	for p := range v.Publishers() {
		if p.State == ledger.PublisherPending {
			if n++; n == 1 || p.Requested < since {
				since = p.Requested
			}
		}
	}
	return n, since
}

// List returns what needs a user, and then what only informs the user. more reports that there is
// more than that.
func List(v ledger.View, u *ledger.User, now ledger.Time) (list []Item, more bool) {
	list, more = collect(v, u, now)
	places := 0
	for i := range list {
		if one := &list[i]; one.Kind == Waiting && places < maxPlaces {
			places++
			one.Place = v.QueuePosition(ledger.QueueQuery{}, one.Client.ID)
		}
	}
	return list, more
}

// collect is List without positions.
func collect(v ledger.View, u *ledger.User, now ledger.Time) (list []Item, more bool) {
	var needs, informs []Item
	for _, one := range slices.Concat(ofAdministrators(v, u), offers(v, u), owned(v, u, now), connected(v, u, now)) {
		half := &needs
		if one.Kind.Informs() {
			half = &informs
		}
		if len(*half) == maxItems {
			more = true
			continue
		}
		*half = append(*half, one)
	}
	return append(needs, informs...), more
}

// Single returns the list of a user with an item for each application and publisher that waits
// for a review, the last submitted first, instead of their numbers. Items have no position.
func Single(v ledger.View, u *ledger.User, now ledger.Time) (all []Item) {
	list, _ := collect(v, u, now)
	for _, one := range list {
		switch one.Kind {
		case Reviews:
			for _, c := range v.NewestWaiting(maxItems) {
				all = append(all, Item{Kind: Review, Client: c, Since: c.WaitingSince()})
			}
		case Publishers:
			all = append(all, pending(v)...)
		default:
			all = append(all, one)
		}
	}
	return all
}

// pending returns the publishers that were the last to ask for a review.
func pending(v ledger.View) (list []Item) {
	for p := range v.Publishers() {
		if p.State == ledger.PublisherPending {
			list = append(list, Item{Kind: Publisher, Publisher: p, Since: p.Requested})
		}
	}
	slices.SortStableFunc(list, func(a, b Item) int { return cmp.Compare(b.Since, a.Since) })
	return list[:min(len(list), maxItems)]
}

func ofAdministrators(v ledger.View, u *ledger.User) (list []Item) {
	if !u.Admin {
		return nil
	}
	if n := v.CountWaiting(MaxCount + 1); n > 0 {
		one := Item{Kind: Reviews, Count: n}
		if oldest, _ := v.ReviewQueue(ledger.QueueQuery{Limit: 1}); len(oldest) > 0 {
			one.Since = oldest[0].WaitingSince()
		}
		list = append(list, one)
	}
	if n, since := publishers(v); n > 0 {
		list = append(list, Item{Kind: Publishers, Count: n, Since: since})
	}
	if v.Settings().HasDraft {
		list = append(list, Item{Kind: BrandDraft})
	}
	return list
}

func offers(v ledger.View, u *ledger.User) (list []Item) {
	offered, _ := v.OfferedTo(ledger.OfferQuery{User: u.ID, Limit: maxItems + 1})
	for _, c := range offered {
		list = append(list, Item{Kind: Offered, Client: c, Since: c.Offer.At})
	}
	return list
}

// owned returns what the user's own applications need, the latest first.
func owned(v ledger.View, u *ledger.User, now ledger.Time) (list []Item) {
	read := 0
	for c := range v.ClientsOf(u.ID) {
		if read++; read > maxOwned || len(list) > maxFound {
			break
		}
		if c.State == ledger.Deleted {
			continue
		}
		list = append(list, needs(c, now)...)
		if c.AwaitsReview() {
			list = append(list, Item{Kind: Waiting, Client: c, Since: c.WaitingSince()})
		}
		if c.Legacy {
			list = append(list, Item{Kind: Legacy, Client: c})
		}
	}
	slices.SortStableFunc(list, func(a, b Item) int { return cmp.Compare(b.Since, a.Since) })
	return list
}

// needs returns what an application needs its owner for. It returns nothing for a client for which
// NeedsOwner is false.
func needs(c *ledger.Client, now ledger.Time) (list []Item) {
	switch {
	case c.State == ledger.Rejected:
		list = append(list, Item{Kind: Rejected, Client: c, Since: c.Changed})
	case c.State == ledger.Suspended:
		list = append(list, Item{Kind: Suspended, Client: c, Since: c.Changed})
	case c.LacksSecret():
		list = append(list, Item{Kind: NoSecret, Client: c, Since: c.Changed})
	}
	for i := range c.Secrets {
		if s := &c.Secrets[i]; s.Active() && s.Ends != 0 && s.Ends < now.Add(endsWithin) {
			list = append(list, Item{Kind: SecretEnds, Client: c, Since: c.Changed, Secret: s})
		}
	}
	if c.Refused != nil {
		list = append(list, Item{Kind: Refused, Client: c, Since: c.Refused.At})
	}
	return list
}

// connected returns which applications of those that may use the user's account need a look.
func connected(v ledger.View, u *ledger.User, now ledger.Time) (list []Item) {
	seen := map[string]bool{}
	for _, g := range v.GrantsOf(u.ID, now) {
		c := v.Client(g.Client)
		if key := "shared " + c.ID; g.Shared() && !seen[key] {
			seen[key] = true
			list = append(list, Item{Kind: AppShared, Client: c, Since: g.Used})
		}
		if c.State == ledger.Suspended && !seen[c.ID] {
			seen[c.ID] = true
			list = append(list, Item{Kind: AppSuspended, Client: c, Since: c.Changed})
		}
	}
	return list
}
