package ledger

import (
	"encoding/hex"
	"iter"
	"reflect"
)

// PrefetchRows is prefetchRows.
const PrefetchRows = prefetchRows

// Marks is marks.
var Marks = marks

// Prefetch is prefetch.
func Prefetch[R any](all iter.Seq[*R], touch func(*R) byte) iter.Seq[*R] { return prefetch(all, touch) }

// CurrentIsTrue reports whether the values that a view caches match the rows.
func CurrentIsTrue(v View) bool { return reflect.DeepEqual(v.current, Current(v.txn)) }

// LastEffect is lastEffect.
const LastEffect = lastEffect

// Reading is reading.
var Reading = reading

// DigestOf is the SHA-256 of a text, in hexadecimal.
func DigestOf(text string) string { d := digest(text); return hex.EncodeToString(d[:]) }

// LikeAnother is likeAnother.
func (v View) LikeAnother(name, publisher string) string { return v.likeAnother(name, publisher) }
