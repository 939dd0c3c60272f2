package ledger

// Level is the feature level of these rules. A cluster has a level too
// (Meta.Level): that of the oldest program among its nodes, which rises when the
// last of them was upgraded. What an older program does not know, or would
// decide otherwise, happens from a level on that it does not have, or its state
// would differ from that of the others. A kind of command that comes with a level
// is listed in Since.
//
// There is one level yet.
const Level = 1

// Since has the kinds of commands that not every level knows, with the level from
// which on each may be proposed.
func Since() map[Kind]uint32 { return map[Kind]uint32{} }
