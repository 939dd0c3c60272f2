package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/declare"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Export returns a declaration of everything in a cluster that files can declare, and a
// comment on what they can't. Applied to the same cluster it changes nothing. Secrets and
// passwords do not leave a cluster.
func Export(ctx context.Context, c *admin.Caller) (*declare.Declaration, string, error) {
	d := &declare.Declaration{}
	omitted, err := exportUsers(ctx, c, d)
	if err != nil {
		return nil, "", err
	}
	if err := exportClients(ctx, c, d); err != nil {
		return nil, "", err
	}
	if err := exportResourceServers(ctx, c, d); err != nil {
		return nil, "", err
	}
	unreviewed, err := exportPublishers(ctx, c, d)
	if err != nil {
		return nil, "", err
	}
	settings, err := admin.ShowSettings.Call(ctx, c, admin.SettingsQuery{})
	if err != nil {
		return nil, "", err
	}
	d.Settings.Values = map[string]string{}
	for _, s := range settings.Settings {
		if !s.Fixed {
			d.Settings.Values[s.Key] = s.Value
		}
	}
	comment := "Users have no passwords here, and clients and resource servers no secrets: only digests\n" +
		"are stored, which do not leave the cluster. What an entry does not name of them stays\n" +
		"as it is."
	if omitted > 0 {
		comment += fmt.Sprintf("\nUsers who are disabled, or sign in through a provider, are left out: %d.", omitted)
	}
	if unreviewed > 0 {
		comment += fmt.Sprintf("\nPublishers that wait for a review, or were rejected, are left out: %d.", unreviewed)
	}
	return d, comment, nil
}

// exportUsers returns how many users it leaves out: a provider makes its users at their
// first sign-in, and a disabled user would be enabled elsewhere.
func exportUsers(ctx context.Context, c *admin.Caller, d *declare.Declaration) (omitted int, err error) {
	list, err := admin.ListUsers.Call(ctx, c, admin.UserFilter{})
	if err != nil {
		return 0, err
	}
	for i := range list.Users {
		u := &list.Users[i]
		if u.State != enabled || u.Upstream != "" {
			omitted++
			continue
		}
		d.Users = append(d.Users, declare.User{
			ID: u.ID, Username: u.Username, Admin: u.Admin,
			Person: ledger.Person{
				Name: u.Name, Email: u.Email, TimeZone: u.TimeZone, AvatarURL: u.AvatarURL, Bio: u.Bio, TimeFormat: u.TimeFormat,
				DefaultScheduleID: u.DefaultScheduleID, WeekStart: u.WeekStart, Locale: u.Locale, OrganizationID: u.OrganizationID,
			},
		})
	}
	slices.SortFunc(d.Users, func(a, b declare.User) int { return strings.Compare(a.Username, b.Username) }) // ids may be random
	return omitted, nil
}

func exportClients(ctx context.Context, c *admin.Caller, d *declare.Declaration) error {
	list, err := admin.ListClients.Call(ctx, c, admin.ClientFilter{})
	if err != nil {
		return err
	}
	var asked []admin.ClientQuestion
	for i := range list.Clients {
		if list.Clients[i].Document == "" { // its publisher describes it
			asked = append(asked, admin.ClientQuestion{ID: list.Clients[i].ID})
		}
	}
	return describeClients(ctx, c, asked, false, func(one *admin.DescribedClient) {
		if one.State == string(ledger.Deleted) {
			return // since it was listed
		}
		client := declare.Client{
			ID: one.ID, Name: one.Name, Purpose: one.Purpose, Website: one.Website,
			PrivacyURL: one.PrivacyURL, TermsURL: one.TermsURL, Owner: one.Owner, Type: one.Type,
			RedirectURIs: one.RedirectURIs, Scopes: slices.Clone(one.Scopes), Legacy: one.Kind == "legacy", Comment: commentOn(one),
		}
		if one.State != string(ledger.Approved) {
			client.State = one.State
		}
		d.Clients = append(d.Clients, client)
	})
}

func exportResourceServers(ctx context.Context, c *admin.Caller, d *declare.Declaration) error {
	list, err := admin.ListResourceServers.Call(ctx, c, admin.ResourceServerFilter{})
	for _, one := range list.ResourceServers {
		s := declare.ResourceServer{ID: one.ID, Name: one.Name, Scopes: one.Scopes}
		if ids := activeIDs(one.Secrets); len(ids) > 0 {
			s.Comment = "secret_file: where it is new, name its secret; here it has " + strings.Join(ids, " and ")
		}
		d.ResourceServers = append(d.ResourceServers, s)
	}
	return err
}

// exportPublishers adds the approved publishers, and returns the number of the others: their
// entries would approve them where the file is applied.
func exportPublishers(ctx context.Context, c *admin.Caller, d *declare.Declaration) (omitted int, err error) {
	list, err := admin.ListPublishers.Call(ctx, c, admin.PublisherFilter{})
	for i := range list.Publishers {
		one := &list.Publishers[i]
		if one.State != string(ledger.PublisherApproved) {
			omitted++
			continue
		}
		d.Publishers = append(d.Publishers, declare.Publisher{
			Host: one.Host, Name: one.Name, Scopes: one.Scopes, Defaults: one.Defaults, MaxClients: one.MaxClients, LongRetry: one.LongRetry,
			RedirectURIs: one.RedirectURIs,
		})
	}
	return omitted, err
}

func commentOn(c *admin.DescribedClient) string {
	var lines []string
	ids := activeIDs(c.Secrets)
	switch {
	case len(ids) > 0:
		lines = append(lines, "secret_file: where the client is new, name its secret; here it has "+strings.Join(ids, " and "))
	case c.Type == string(ledger.Confidential):
		lines = append(lines, "secret_file: it has none yet")
	}
	if len(c.Difference) > 0 {
		lines = append(lines, "Its owner has proposed changes, which wait for a review.")
	}
	return strings.Join(lines, "\n")
}
