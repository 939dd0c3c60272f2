// Package site is one request of a browser: its route, its session, its form, and the page that
// answers it.
//
// It decides who may open a page (guard.go, routes.go), makes sure that a form comes from a page
// of this service that the same user saw (formtoken.go, form_redisplay.go), reads and checks what
// was sent (form_decode.go), proposes the command (propose.go), bounds what one user can send
// (limits.go) and makes every error page (failure.go). Its decisions are preliminary: every
// command repeats them.
//
// An area of pages, such as the administration, is a package of its own: its Area embeds an Area
// of this package, and declares its forms as FormKinds and its routes with PageFor and FormFor.
// This package knows no area, and not how a page looks: that is package ui.
package site
