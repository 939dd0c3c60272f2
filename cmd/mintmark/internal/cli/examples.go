package cli

// examples are the examples in the help of each command, by its path.
var examples = map[string]string{
	"apply": `
mintmark apply -f clients.yaml
mintmark apply -f clients.yaml --dry-run
mintmark apply -f clients.yaml --prune --yes`,

	"audit": `
mintmark audit --kind grant --limit 20
mintmark audit --after 0 --follow -o jsonl`,

	"bench exchange": `
mintmark bench exchange --yes
mintmark bench exchange --yes --grants 2000 --connections 16 -o json`,
	"bench introspect": `
mintmark bench introspect --yes
mintmark bench introspect --yes --grants 1000 --duration 30s -o json`,
	"bench refresh": `
mintmark bench refresh --yes
mintmark bench refresh --yes --connections 16 --rate 500 --duration 30s -o json
mintmark bench refresh --url https://auth.example.com --clients clients.jsonl`,

	"client add": `
mintmark client add --name "Calendar App" --owner alice --redirect-uri https://cal.example.com/callback --scope PROFILE_READ,BOOKING_READ`,
	"client approve":       `mintmark client approve cal-app --revision 3`,
	"client delete":        `mintmark client delete cal-app`,
	"client import":        `mintmark client import clients.jsonl`,
	"client list":          `mintmark client list --state pending`,
	"client reject":        `mintmark client reject cal-app --reason "The purpose is not clear."`,
	"client resume":        `mintmark client resume cal-app`,
	"client secret add":    `mintmark client secret add cal-app --name production --old-ends 7d`,
	"client secret list":   `mintmark client secret list cal-app`,
	"client secret revoke": `mintmark client secret revoke cal-app s_x7d2k4`,
	"client secret set":    `mintmark client secret set cal-app s_x7d2k4 --ends 12h`,
	"client set":           `mintmark client set cal-app --scope BOOKING_READ --scope PROFILE_READ`,
	"client show":          `mintmark client show cal-app`,
	"client suspend":       `mintmark client suspend cal-app --reason "It asks for tokens every second."`,

	"cluster accept-clock":   `mintmark cluster accept-clock`,
	"cluster backup inspect": `mintmark cluster backup inspect mintmark.backup`,
	"cluster backup journal": `mintmark cluster backup journal n1.journal`,
	"cluster backup restore": `
mintmark cluster backup restore mintmark.backup --journal n1.journal --journal n2.journal --dry-run
mintmark cluster backup restore mintmark.backup --journal n1.journal --journal n2.journal`,
	"cluster backup save": `
mintmark cluster backup save mintmark.backup
mintmark cluster backup save - > mintmark.backup`,
	"cluster checksum": `mintmark cluster checksum`,
	"cluster generate": `
mintmark cluster generate --public-url https://id.example.com --listen :8080 --out generated --node n1=10.0.0.1:8300 --node n2=10.0.0.2:8300 --node n3=10.0.0.3:8300`,
	"cluster init":                `mintmark cluster init --public-url https://id.example.com`,
	"cluster invitation list":     `mintmark cluster invitation list`,
	"cluster invitation withdraw": `mintmark cluster invitation withdraw n4`,
	"cluster invite":              `mintmark cluster invite --name n2 > n2.token`,
	"cluster recover":             `mintmark cluster recover --journal /mnt/n2/mintmark --yes`,
	"cluster remove":              `mintmark cluster remove n3`,
	"cluster replace":             `mintmark cluster replace n3 --name n4 > n4.token`,
	"cluster rotate-authority":    `mintmark cluster rotate-authority`,
	"cluster status": `
mintmark cluster status
mintmark cluster status --voters 3 -o json`,
	"cluster transfer-leader": `mintmark cluster transfer-leader --to n2`,

	"config example": `mintmark config example > mintmark.yaml`,
	"config show":    `mintmark config show --config /etc/mintmark/mintmark.yaml`,

	"demo api":   `mintmark demo api --listen 127.0.0.1:9000`,
	"demo token": `TOKEN=$(mintmark demo token)`,
	"dev": `
mintmark dev
mintmark dev --fixtures fixtures.yaml --data-dir /tmp/mintmark`,

	"doctor": `
mintmark doctor --config /etc/mintmark/mintmark.yaml
mintmark doctor --data-dir /var/lib/mintmark -o json`,

	"docs": `
mintmark docs
mintmark docs operate`,

	"explain": `mintmark explain mme_4k2m9x`,
	"export":  `mintmark export > cluster.yaml`,

	"health":           `mintmark health --config /etc/mintmark/mintmark.yaml`,
	"grant disconnect": `mintmark grant disconnect --user alice --client cal-app`,
	"grant list":       `mintmark grant list --user alice`,
	"grant revoke": `
mintmark grant revoke 0123456789abcdef0123456789abcdef
mintmark grant revoke --publisher agent.example.com`,

	"keys list":            `mintmark keys list`,
	"keys new-cluster-key": `mintmark keys new-cluster-key cluster.key`,
	"keys rewrap":          `mintmark keys rewrap`,
	"keys rotate": `
mintmark keys rotate
mintmark keys rotate --emergency sig-k2m9x4`,

	"operator token add":    `mintmark operator token add ci --scope read,clients --lifetime 90d > ci.token`,
	"operator token list":   `mintmark operator token list`,
	"operator token revoke": `mintmark operator token revoke ci`,

	"policy check": `mintmark policy check --openapi openapi.yaml --policy policy.txt`,

	"publisher add":    `mintmark publisher add agent.example.com --scope BOOKING_READ,BOOKING_WRITE --default-scope BOOKING_READ`,
	"publisher list":   `mintmark publisher list --state pending`,
	"publisher reject": `mintmark publisher reject agent.example.com --reason "nobody here uses it"`,
	"publisher remove": `mintmark publisher remove agent.example.com`,
	"publisher set":    `mintmark publisher set agent.example.com --scope BOOKING_READ`,
	"publisher show":   `mintmark publisher show agent.example.com`,

	"resource-server add": `
mintmark resource-server add https://bookings.example.com --name bookings
mintmark resource-server add https://bookings.example.com/v2 --name bookings-v2 --scope BOOKING_READ,BOOKING_WRITE`,
	"resource-server list":          `mintmark resource-server list`,
	"resource-server remove":        `mintmark resource-server remove bookings`,
	"resource-server secret add":    `mintmark resource-server secret add bookings`,
	"resource-server secret revoke": `mintmark resource-server secret revoke bookings s_x7d2k4`,
	"resource-server set":           `mintmark resource-server set bookings --scope BOOKING_READ`,
	"resource-server show":          `mintmark resource-server show bookings`,

	"secret generate": `
mintmark secret generate
mintmark secret generate cal-app.secret`,

	"serve": `
mintmark serve --config /etc/mintmark/mintmark.yaml
mintmark serve --name n2 --join 10.0.0.1:8300 --token-file n2.token`,

	"metrics dashboard": `mintmark metrics dashboard > dashboard.json`,
	"metrics rules":     `mintmark metrics rules > /etc/prometheus/mintmark.yaml`,

	"settings set":  `mintmark settings set code_lifetime=60s rotate_every=90d`,
	"settings show": `mintmark settings show`,

	"unit": `mintmark unit > /etc/systemd/system/mintmark.service`,

	"user add":      `mintmark user add alice --name "Alice Example" --email alice@example.com`,
	"user admin":    `mintmark user admin alice`,
	"user delete":   `mintmark user delete alice`,
	"user disable":  `mintmark user disable alice`,
	"user sign-out": `mintmark user sign-out alice`,
	"user enable":   `mintmark user enable alice`,
	"user list":     `mintmark user list --deleted`,
	"user password": `mintmark user password alice --password-file new-password`,
	"user show":     `mintmark user show alice`,

	"version": `mintmark version -o json`,
}
