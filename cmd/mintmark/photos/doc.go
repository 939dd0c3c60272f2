// Package photos compares pictures of the pages with the accepted ones in the folder accepted:
// of each scene of issuer/web/webtest and of each component of the specimen in issuer/web/ui, in a
// wide and a narrow window, light and dark. A change of a page is seen in its review:
//
//	make photos                       # compare; differences are in .tools/photos/index.html
//	make photos ACCEPT='consent.*'    # accept the pictures of these scenes; '.*' for all
//	make photos README=yes            # write the pictures of the documents too
//
// Pictures are only the same if the browser and the fonts are, which accepted/MADE names. With
// others, the test fails for a page that looks entirely different, and else only logs.
//
// It has tests only. What the pages do is tested in issuer/web and in cmd/mintmark/e2e.
package photos
