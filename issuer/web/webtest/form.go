package webtest

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"

	"github.com/stretchr/testify/require"
)

// A Part is a field of multipart/form-data, or a file if it has a file name.
type Part struct{ Name, File, Content string }

// PostParts sends a form as a browser sends one with a file.
func (b *Browser) PostParts(target string, form url.Values, files ...Part) Answer {
	b.Env.T.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, list := range form {
		for _, value := range list {
			require.NoError(b.Env.T, w.WriteField(name, value))
		}
	}
	for _, f := range files {
		out, err := w.CreateFormFile(f.Name, f.File)
		require.NoError(b.Env.T, err)
		_, err = out.Write([]byte(f.Content))
		require.NoError(b.Env.T, err)
	}
	require.NoError(b.Env.T, w.Close())
	return b.Send(http.MethodPost, target, &body, http.Header{
		"Content-Type": {w.FormDataContentType()}, "Sec-Fetch-Site": {"same-origin"},
	})
}
