package account

// BrowserName is browserName.
var BrowserName = browserName
