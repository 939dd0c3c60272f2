package transport

import (
	"sync"

	"github.com/hashicorp/raft"
)

// AppendEntriesPipeline is raft's own, whose sender is never held up by whoever
// reads the answers.
//
// raft stops to read them at the first that is a refusal or has a newer term.
// Its sender may then wait for room in the pipeline, for ever: nothing is sent to
// that follower any more while the node leads, and the node can't be stopped.
func (t *Transport) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	inner, err := t.NetworkTransport.AppendEntriesPipeline(id, target)
	if err != nil {
		return nil, err
	}
	p := &pipeline{
		AppendPipeline: inner, responses: make(chan raft.AppendFuture), closed: make(chan struct{}),
		onResponse: func(f raft.AppendFuture) { t.reportAck(id, f.Request(), f.Response()) },
	}
	go p.forward()
	return p, nil
}

// A pipeline keeps the answers that nobody has read yet. They are few: the next
// message is sent when the one before the last was answered, and raft looks
// after each whether to stop.
type pipeline struct {
	raft.AppendPipeline
	responses chan raft.AppendFuture
	closed    chan struct{}
	closeOnce sync.Once // of closed

	onResponse func(raft.AppendFuture)
}

// AppendEntries sends a message. See bounded.
func (p *pipeline) AppendEntries(q *raft.AppendEntriesRequest, r *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	return p.AppendPipeline.AppendEntries(clampCommitIndex(q), r)
}

func (p *pipeline) Consumer() <-chan raft.AppendFuture { return p.responses }

func (p *pipeline) Close() error {
	p.closeOnce.Do(func() { close(p.closed) })
	return p.AppendPipeline.Close()
}

func (p *pipeline) forward() {
	var unread []raft.AppendFuture
	for {
		var out chan raft.AppendFuture
		var next raft.AppendFuture
		if len(unread) > 0 {
			out, next = p.responses, unread[0]
		}
		select {
		case answer := <-p.AppendPipeline.Consumer():
			p.onResponse(answer)
			unread = append(unread, answer)
		case out <- next:
			unread = unread[1:]
		case <-p.closed:
			return
		}
	}
}
