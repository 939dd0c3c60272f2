package webtest

const AuthorizePath = "/auth/oauth2/authorize"
