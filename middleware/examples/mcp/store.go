package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

type (
	booking struct {
		UID      string    `json:"uid"`
		Title    string    `json:"title"`
		Start    time.Time `json:"start"`
		End      time.Time `json:"end"`
		Attendee attendee  `json:"attendee"`
	}
	attendee struct {
		Name  string `json:"name"`
		Email string `json:"email"`
	}
	schedule struct {
		Name     string `json:"name"`
		Default  bool   `json:"default"`
		TimeZone string `json:"time_zone"`
		Days     string `json:"days"`
		From     string `json:"from"`
		To       string `json:"to"`
	}
)

// A store has the calendars of all users, in memory. It is a placeholder for the service's
// own data.
type store struct {
	now func() time.Time

	mu    sync.Mutex
	users map[string]*calendar
}

type calendar struct {
	bookings  []booking
	schedules []schedule
}

var (
	errNoBooking = errors.New("there is no such booking")
	errPast      = errors.New("the new start is in the past")
)

func newStore(now func() time.Time) *store {
	return &store{now: now, users: make(map[string]*calendar)}
}

// of returns the calendar of a user. One who is new gets something to try.
func (s *store) of(user string) *calendar {
	c := s.users[user]
	if c == nil {
		day := s.now().UTC().Truncate(24 * time.Hour)
		at := func(days, hours int, title, name string) booking {
			start := day.Add(time.Duration(24*days+hours) * time.Hour)
			email := strings.ToLower(name) + "@example.com"
			return booking{rand.Text(), title, start, start.Add(time.Hour), attendee{name, email}}
		}
		c = &calendar{
			bookings: []booking{
				at(-2, 9, "Interview", "Grace"), at(1, 10, "Introduction", "Ada"), at(1, 14, "Review", "Barbara"), at(2, 9, "Planning", "Ada"),
			},
			schedules: []schedule{
				{"Working hours", true, "Europe/London", "Monday to Friday", "09:00", "17:00"},
				{"Evenings", false, "Europe/London", "Tuesday, Thursday", "18:00", "20:00"},
			},
		}
		s.users[user] = c
	}
	return c
}

// list returns the bookings that end after from and start before to. Zero times mean now,
// and no limit.
func (s *store) list(user string, from, to time.Time) []booking {
	if from.IsZero() {
		from = s.now()
	}
	return s.bookings(user, func(b booking) bool {
		return b.End.After(from) && (to.IsZero() || b.Start.Before(to))
	})
}

// find returns the bookings whose title or attendee contains a text, ignoring letter case.
func (s *store) find(user, text string) []booking {
	text = strings.ToLower(text)
	return s.bookings(user, func(b booking) bool {
		return strings.Contains(strings.ToLower(b.Title+"\n"+b.Attendee.Name+"\n"+b.Attendee.Email), text)
	})
}

func (s *store) bookings(user string, wanted func(booking) bool) []booking {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []booking{}
	for _, b := range s.of(user).bookings {
		if wanted(b) {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b booking) int { return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.UID, b.UID)) })
	return found
}

// reschedule moves a booking. That of another user is as unknown as one that does not exist.
func (s *store) reschedule(user, uid string, start time.Time) (booking, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.of(user).bookings
	i := slices.IndexFunc(mine, func(b booking) bool { return b.UID == uid })
	if i < 0 {
		return booking{}, errNoBooking
	}
	if !start.After(s.now()) {
		return booking{}, errPast
	}
	moved := mine[i]
	moved.Start, moved.End = start.UTC(), start.UTC().Add(moved.End.Sub(moved.Start))
	for _, b := range mine {
		if b.UID != uid && b.Start.Before(moved.End) && moved.Start.Before(b.End) {
			return booking{}, fmt.Errorf("the time is taken by %q, from %s to %s", b.Title, b.Start.Format(time.RFC3339), b.End.Format(time.RFC3339))
		}
	}
	mine[i] = moved
	return moved, nil
}

func (s *store) schedules(user string) []schedule {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.of(user).schedules)
}
