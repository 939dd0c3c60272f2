package ledger

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// Shown returns the value of the setting for display.
func (f *SettingField) Shown(s *Settings) string {
	switch {
	case f.Text != nil:
		return cmp.Or(*f.Text(s), f.Empty)
	case f.Flag != nil:
		return strconv.FormatBool(*f.Flag(s))
	case f.Key == rotateEveryKey:
		every, scheduled := s.Rotation()
		if !scheduled {
			return SettingOff
		}
		return FormatDuration(every)
	}
	return FormatDuration(*f.Duration(s))
}

// settingDifferences returns the detail of the event of a change of settings: the keys that
// changed, with their values. No setting is a secret.
func settingDifferences(old, next *Settings) string {
	var all differences
	for i := range SettingFields {
		f := &SettingFields[i]
		all.text(f.Key, f.Shown(old), f.Shown(next))
	}
	all.text("logo", old.Brand.logoText(), next.Brand.logoText())
	return clipDetail(strings.Join(all, "; "))
}

// FormatDuration formats a duration with days of 24 hours and without units that are zero:
// 30d, 1d12h, 1m30s.
func FormatDuration(d time.Duration) string {
	days := d / (24 * time.Hour)
	if days < 1 {
		return trimZeros(d)
	}
	text := strconv.FormatInt(int64(days), 10) + "d"
	if rest := d % (24 * time.Hour); rest > 0 {
		text += trimZeros(rest)
	}
	return text
}

func trimZeros(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
