package transport

import (
	"sync"

	"github.com/hashicorp/raft"
)

// AppendEntriesPipeline is raft's pipeline, with a sender that never blocks on the reader
// of the answers.
//
// raft stops reading them at the first refusal or newer term. Its sender may then wait
// forever for room in the pipeline: the leader sends nothing to that follower any more,
// and the node can't be stopped.
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

// A pipeline buffers the answers that have not been read. They are few: the next message
// is sent when the last but one was answered, and raft checks after each whether to stop.
type pipeline struct {
	raft.AppendPipeline
	responses chan raft.AppendFuture
	closed    chan struct{}
	closeOnce sync.Once // guards the close of closed

	onResponse func(raft.AppendFuture)
}

// AppendEntries sends a message, see clampCommitIndex.
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
