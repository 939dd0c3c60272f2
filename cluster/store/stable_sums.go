package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// bbolt has no checksums of its content. A flipped bit in a term or a vote would let a
// node vote twice, or follow a deposed leader, without notice. So each value of the
// stable store ends with a sum: a magic number, and the CRC-32C of the key and the value.
const (
	stableMagic   = 0x6d6d7374 // "mmst"
	stableSumSize = 4 + 4
)

// SetStable implements types.MetaStore.
func (m *walMetaStore) SetStable(key, value []byte) error {
	if value != nil {
		sum := stableSum(key, value)
		value = binary.BigEndian.AppendUint32(value[:len(value):len(value)], stableMagic)
		value = binary.BigEndian.AppendUint32(value, sum)
	}
	return m.BoltMetaDB.SetStable(key, value)
}

// GetStable implements types.MetaStore.
func (m *walMetaStore) GetStable(key []byte) ([]byte, error) {
	value, err := m.BoltMetaDB.GetStable(key)
	if err != nil || value == nil {
		return nil, err
	}
	at := len(value) - stableSumSize
	if at < 0 || binary.BigEndian.Uint32(value[at:]) != stableMagic || binary.BigEndian.Uint32(value[at+4:]) != stableSum(key, value[:at]) {
		return nil, fmt.Errorf("%s in %s is damaged", key, WalMetaFile)
	}
	return value[:at:at], nil
}

func stableSum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}
