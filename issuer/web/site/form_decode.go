package site

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
)

const (
	maxForm   = 64 << 10 // bytes of a form, without files
	maxValues = 200      // values of one field
	maxParts  = 1000     // parts of a form with a file

	// maxUpload is how much is read of a form with a file, in bytes. It exceeds the limits of
	// files: a browser reads no response before it has sent everything, and the user should
	// learn that the picture is too large.
	maxUpload = 8 << 20
)

type FormHandler func(*Request, *Form) error

// OpenForm wraps the handler of a form that needs no session. It refuses cross-origin
// requests, and with the error without those that no page of this server can have sent.
// The handler verifies the token.
func (w *Site) OpenForm(kind *FormKind, h FormHandler, without error) Handler {
	return func(c *Request) error {
		f, err := decode(c, kind)
		switch {
		case err != nil:
			return err
		case f.SentToken == "":
			return without
		case w.origin.Check(c.R) != nil:
			return ErrNotOurForm
		}
		return h(c, f)
	}
}

// decode reads the body once, and keeps the declared fields. A body of another type is
// treated as an empty form.
func decode(c *Request, kind *FormKind) (*Form, error) {
	f := &Form{Kind: kind, Values: url.Values{}, files: map[string][]byte{}}
	mediaType, params, err := mime.ParseMediaType(c.R.Header.Get("Content-Type"))
	switch {
	case err != nil:
		return f, nil
	case mediaType == "application/x-www-form-urlencoded":
		err = f.readQuery(http.MaxBytesReader(c.ResponseWriter, c.R.Body, maxForm))
	case mediaType == "multipart/form-data" && kind.multipart():
		body := http.MaxBytesReader(c.ResponseWriter, c.R.Body, maxUpload)
		err = f.readParts(multipart.NewReader(body, params["boundary"]))
	}
	if _, known := errors.AsType[*Failure](err); known || err == nil {
		return f, err
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return f, errTooLarge
	}
	return f, ErrUnreadable
}

func (f *Form) readQuery(body io.Reader) error {
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	values, err := url.ParseQuery(string(text))
	if err != nil {
		return err
	}
	for name, list := range values {
		for _, value := range list {
			if err := f.add(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a value of a declared field.
func (f *Form) add(name, value string) error {
	switch name {
	case "token":
		return setOnce(&f.SentToken, value)
	case "shown_to":
		return setOnce(&f.shownTo, value)
	}
	i := f.Kind.field(name)
	if i < 0 {
		return nil
	}
	most := 1
	switch f.Kind.Fields[i].kind {
	case isList:
		most = maxValues
	case isFile:
		return nil // the name of a file, sent as text
	}
	if len(f.Values[name]) >= most {
		return ErrUnreadable
	}
	f.Values.Add(name, value)
	return nil
}

func setOnce(into *string, value string) error {
	if *into != "" {
		return ErrUnreadable
	}
	*into = value
	return nil
}

// readParts reads multipart/form-data (RFC 7578). It ignores names and types of files, which the
// browser chose.
func (f *Form) readParts(r *multipart.Reader) error {
	room := int64(maxForm)
	for range maxParts {
		part, err := r.NextRawPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		name := part.FormName()
		if i := f.Kind.field(name); i >= 0 && f.Kind.Fields[i].kind == isFile {
			err = f.readFile(part, f.Kind.Fields[i])
		} else {
			var value []byte
			value, err = io.ReadAll(io.LimitReader(part, room+1))
			if room -= int64(len(value)); room < 0 {
				return errTooLarge
			}
			if err == nil {
				err = f.add(name, string(value))
			}
		}
		if err != nil {
			return err
		}
	}
	return errTooLarge
}

// readFile reads a file. Browsers send an empty file if none was chosen.
func (f *Form) readFile(part io.Reader, field Field) error {
	content, err := io.ReadAll(io.LimitReader(part, int64(field.maxSize)+1))
	switch {
	case err != nil:
		return err
	case f.files[field.Name] != nil:
		return ErrUnreadable
	case len(content) > field.maxSize:
		f.AddProblem(field.Name, "is larger than "+kilobytes(field.maxSize))
	case len(content) > 0:
		f.files[field.Name] = content
	}
	return nil
}

func kilobytes(n int) string { return strconv.Itoa(n>>10) + " KB" }
