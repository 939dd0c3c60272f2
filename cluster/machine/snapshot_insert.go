package machine

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/hashicorp/go-memdb"
)

// maxTxnRows is the number of rows in a transaction of a restore: enough that the cost of a
// commit is negligible, and few enough that memdb's list of the nodes that a transaction may
// write stays short. It is asked for every node on the way to a row.
const maxTxnRows = 8 * chunkRows

// chunk has rows of a table between the file and the database.
type chunk struct {
	table *table
	data  []byte
	rows  []any         // set by decode
	err   error         // set by decode
	ready chan struct{} // closed when rows and err are set
}

func (c *chunk) decode() {
	defer close(c.ready)
	rest := c.data
	for i := range c.rows {
		row := c.table.empty()
		var err error
		if rest, err = decoding.UnmarshalFirst(rest, row); err != nil {
			c.err = fmt.Errorf("table %q: decode row: %w", c.table.name, err)
			return
		}
		c.rows[i] = row
	}
	if len(rest) > 0 {
		c.err = fmt.Errorf("table %q: %d bytes after the rows of a chunk", c.table.name, len(rest))
	}
	c.data = nil
}

// insertChunks reads, decodes and inserts the body of a snapshot: one goroutine reads,
// several decode, and the caller's inserts in order.
func (s *schema) insertChunks(db *memdb.MemDB, in *hashedReader) error {
	var (
		workers = runtime.GOMAXPROCS(0)
		order   = make(chan *chunk, 2*workers)
		work    = make(chan *chunk, 2*workers)
		stop    = make(chan struct{})
		readErr error
		wg      sync.WaitGroup
	)
	for range workers {
		wg.Go(func() {
			for c := range work {
				c.decode()
			}
		})
	}
	wg.Go(func() {
		defer close(work)
		defer close(order)
		readErr = s.readChunks(in, func(c *chunk) bool {
			for _, ch := range []chan *chunk{work, order} {
				select {
				case ch <- c:
				case <-stop:
					return false
				}
			}
			return true
		})
	})
	err := insertAll(db, order)
	close(stop)
	wg.Wait()
	if err != nil {
		return err
	}
	return readErr
}

func insertAll(db *memdb.MemDB, order <-chan *chunk) error {
	txn, n := db.Txn(true), 0
	defer func() { txn.Abort() }()
	for c := range order {
		<-c.ready
		if c.err != nil {
			return c.err
		}
		for _, row := range c.rows {
			if err := txn.Insert(c.table.name, row); err != nil {
				return fmt.Errorf("table %q: insert row: %w", c.table.name, err)
			}
		}
		if n += len(c.rows); n >= maxTxnRows {
			txn.Commit()
			txn, n = db.Txn(true), 0
		}
	}
	txn.Commit()
	return nil
}
