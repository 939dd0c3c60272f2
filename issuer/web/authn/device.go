package authn

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

const (
	deviceCookie   = "mintmark-device"
	deviceLifetime = 180 * 24 * time.Hour // since the last sign-in
	maxDevices     = 4                    // users who share a browser
	maxDeviceLen   = 200                  // characters of a sealed device
	deviceSize     = 16 + 16 + 16 + 8     // bytes
)

// Devices seals the record in a browser of who has signed in with it. Every node must be able
// to open what another one sealed.
type Devices interface {
	SealDevice(plain []byte) string
	OpenDevice(text string) ([]byte, error)
}

// A device proves that a user has signed in with this browser before (OWASP, "Slow Down Online
// Guessing Attacks with Device Cookies"). It signs nobody in and reveals nothing to a reader of
// the cookie: it only provides a separate count of attempts, which others can't use up. So it
// stays when the user signs out. It becomes invalid when the password changes, so that collected
// devices permit no guesses at the new password.
type device struct {
	owner    deviceOwner
	id       deviceID
	Password devicePassword // when the device was made
	expires  ledger.Time
}

type (
	deviceID       [16]byte
	deviceOwner    [16]byte
	devicePassword [16]byte // digest of the password hash; zero if there is no password
)

// DeviceOwnerOf returns the owner of a device by user name. It is a digest, so that all have the
// same length. The name is folded as in the ledger.
func DeviceOwnerOf(username string) deviceOwner {
	return deviceOwner(site.DigestOf("name\x00" + strings.ToLower(username)))
}

// upstreamDeviceOwner owns the devices of users of the provider, who are unknown before the
// provider has responded.
var upstreamDeviceOwner = deviceOwner(site.DigestOf("upstream"))

// DevicePasswordOf returns the digest for a user, zero for nil.
func DevicePasswordOf(u *ledger.User) devicePassword {
	if u == nil || u.Password == "" {
		return devicePassword{}
	}
	return devicePassword(site.DigestOf("password\x00" + u.Password))
}

// PasswordMark identifies the password that a user has while a page is shown. The page's form
// contains it, so that a form that was sent before has no effect on a later password.
func PasswordMark(u *ledger.User) string {
	return hex.EncodeToString(site.DigestOf("mark\x00" + u.Password))
}

func (d *device) bytes() []byte {
	b := slices.Concat(d.owner[:], d.id[:], d.Password[:])
	return binary.BigEndian.AppendUint64(b, uint64(d.expires))
}

func readDevice(b []byte) (d device, ok bool) {
	if len(b) != deviceSize {
		return d, false
	}
	n := copy(d.owner[:], b)
	n += copy(d.id[:], b[n:])
	n += copy(d.Password[:], b[n:])
	d.expires = ledger.Time(binary.BigEndian.Uint64(b[n:]))
	return d, true
}

// devices returns the devices of the browser, the most recently used first.
func (w *Prover) devices(c *site.Request) []device {
	cookie, err := c.R.Cookie(w.CookieName(deviceCookie))
	if err != nil {
		return nil
	}
	var list []device
	now := w.Ledger.Now()
	for _, text := range strings.SplitN(cookie.Value, ".", maxDevices+1) {
		if len(text) > maxDeviceLen || len(list) == maxDevices {
			continue
		}
		plain, err := w.Devices.OpenDevice(text)
		if err != nil {
			continue
		}
		if d, ok := readDevice(plain); ok && now < d.expires {
			list = append(list, d)
		}
	}
	return list
}

// device returns the browser's device of an owner, or a new one if the browser has none
// with this password.
func (w *Prover) device(c *site.Request, whose deviceOwner, password devicePassword) (d device, known bool) {
	for _, d := range w.devices(c) {
		if d.owner == whose && d.Password == password {
			return d, true
		}
	}
	return w.NewDevice(whose, password), false
}

// NewDevice returns a device with a new id.
func (w *Prover) NewDevice(whose deviceOwner, password devicePassword) device {
	d := device{owner: whose, Password: password}
	if _, err := io.ReadFull(w.Rand, d.id[:]); err != nil {
		panic(fmt.Errorf("read random bytes: %w", err))
	}
	return d
}

// SaveDevice stores the device of a user who has signed in. Its id stays, so that repeated
// sign-ins don't create many counts.
func (w *Prover) SaveDevice(c *site.Request, d device) {
	d.expires = w.Ledger.Now().Add(deviceLifetime)
	others := w.otherDevices(c, d.owner)
	w.setDevices(c, append([]device{d}, others[:min(len(others), maxDevices-1)]...))
}

// dropDevice removes a device that has guessed too often from the browser.
func (w *Prover) dropDevice(c *site.Request, d device) { w.setDevices(c, w.otherDevices(c, d.owner)) }

func (w *Prover) otherDevices(c *site.Request, whose deviceOwner) []device {
	return slices.DeleteFunc(w.devices(c), func(d device) bool { return d.owner == whose })
}

func (w *Prover) setDevices(c *site.Request, list []device) {
	if len(list) == 0 {
		w.SetCookie(c, deviceCookie, "", -1)
		return
	}
	texts := make([]string, len(list))
	for i, d := range list {
		texts[i] = w.Devices.SealDevice(d.bytes())
	}
	w.SetCookie(c, deviceCookie, strings.Join(texts, "."), int(deviceLifetime/time.Second))
}
