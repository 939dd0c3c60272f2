package doctor

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
)

// Limits of the checks of a machine.
const (
	// slowSync is of the p99 of a sync. Each decision waits for one on two machines, and a
	// sign-in makes about four of them, so above it people wait for the disk for more than
	// 0.1 s. Shared disks of healthy machines are at 5 to 15 ms.
	slowSync     = 25 * time.Millisecond
	verySlowSync = 100 * time.Millisecond // p99: a leader that waits longer for its disk is replaced
	// fewDescriptors is enough for the connections that a node accepts (8,192), its files and
	// its connections to other nodes. Below it there is a warning; below minDescriptors, with
	// which a node accepts only 512 connections, a failure.
	fewDescriptors, minDescriptors = 10_000, 1024
	smallMemory                    = 256 << 20
)

func checkSettings(f *Facts) Result {
	r := good("settings", "valid, without a file of settings")
	if f.Options.Config != "" {
		r.Measured = "valid, from " + f.Options.Config
	}
	if f.SettingsError != nil {
		r.Measured = f.SettingsError.Error()
		return r.because(Failure, "correct them; mintmark config show prints each with its source")
	}
	return r
}

func checkClock(f *Facts) Result {
	r := good("clock", "the kernel reports it as synchronised")
	switch {
	case f.ClockError == nil:
		return r
	case f.Options.TrustClock:
		r.Measured = f.ClockError.Error() + "; trust-clock is set"
		return r
	}
	r.Measured = f.ClockError.Error()
	return r.because(Warning, "run a time service such as chrony or systemd-timesyncd; set trust-clock only if something else keeps the clock right")
}

func checkDiskSpeed(f *Facts) Result {
	r := good("disk speed", "not measured: there is no data folder yet")
	d := f.Disk
	switch {
	case !f.Folder.Exists:
		return r
	case d.Error != nil:
		r.Measured = "not measured: " + d.Error.Error()
		return r.because(Warning, "run this as the account of the node")
	}
	p99 := percentile99(d.Sync)
	r.Measured = fmt.Sprintf("p99 of a write with fsync %s, over %d in %s", p99.Round(10*time.Microsecond), len(d.Sync), d.Dir)
	switch {
	case p99 > verySlowSync:
		return r.because(Failure, "put the data on a faster disk: each decision waits for such a write, and the node will lose leadership")
	case p99 > slowSync:
		return r.because(Warning, "a disk with a power-loss protected cache is faster: each decision waits for such a write")
	}
	return r
}

// percentile99 returns the smallest value that at least 99 % of the values do not exceed.
func percentile99(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[(len(sorted)*99+99)/100-1]
}

func checkSpace(f *Facts) Result {
	d := f.Disk
	r := good("disk space", "%s free under %s", size(d.Free), d.Dir)
	switch {
	case d.Low == 0:
		return good("disk space", "the system does not report it")
	case d.Free < d.Out:
		return r.because(Failure, "make room: below "+size(d.Out)+" a node takes no commands")
	case d.Free < d.Low:
		return r.because(Warning, "make room: below "+size(d.Low)+" a node hands over leadership")
	}
	return r
}

func checkBackupFolder(f *Facts) Result {
	const check = "backup folder"
	d := f.Backup
	if f.Options.BackupEvery == 0 {
		return good(check, "this node makes no scheduled backups")
	}
	r := good(check, "%s free under %s", size(d.Free), d.Dir)
	switch {
	case f.Unit != nil && f.Unit.forbids(f.Options.BackupDir):
		r.Measured = fmt.Sprintf("%s mounts %s read-only for the node (ProtectSystem)", f.Unit.Path, f.Options.BackupDir)
		return r.because(Failure, "name the folder in ReadWritePaths= with systemctl edit mintmark, and restart the node")
	case f.Unit != nil && f.Unit.forbids(d.Dir): // the folder is missing, and d is of the one above it
		r.Measured = fmt.Sprintf("%s does not exist, and %s lets the node make no folder in %s", f.Options.BackupDir, f.Unit.Path, d.Dir)
		return r.because(Failure, "make it, owned by the account of the node with mode 0700, and restart the node")
	case d.Error != nil:
		r.Measured = d.Error.Error()
		return r.because(Failure, "make the folder, owned by the account of the node with mode 0700, or name another one with backup-dir")
	case d.Low > 0 && d.Free < d.Low:
		return r.because(Failure, "make room: backups are not made below "+size(d.Low))
	case d.OfData:
		r.Measured += ", the disk of the data"
		return r.because(Warning, "put backups on another disk: they are lost with this one")
	}
	return r
}

func checkDescriptors(f *Facts) Result {
	r := good("descriptors", "up to %d open files", f.Descriptors)
	switch {
	case f.Descriptors == 0:
		return good("descriptors", "the system does not report the limit")
	case f.Descriptors < minDescriptors:
		return r.because(Failure, fmt.Sprintf("raise the limit to %d: LimitNOFILE= of a systemd unit, or ulimit -n", fewDescriptors))
	case f.Descriptors < fewDescriptors:
		return r.because(Warning, fmt.Sprintf("raise the limit to %d, for as many connections as a node accepts: LimitNOFILE= of a systemd unit, or ulimit -n", fewDescriptors))
	}
	return r
}

func checkMemory(f *Facts) Result {
	r := good("memory", "the container may take %s", size(uint64(f.MemoryLimit)))
	switch {
	case f.MemoryLimit <= 0:
		return good("memory", "no limit of a container")
	case f.MemoryNeeded > f.MemoryLimit:
		r.Measured += ", and the data take about " + size(uint64(f.MemoryNeeded))
		return r.because(Failure, "raise the limit to twice the size of the data in memory")
	case f.MemoryLimit < smallMemory, 2*f.MemoryNeeded > f.MemoryLimit:
		return r.because(Warning, fmt.Sprintf("raise the limit to %s", size(uint64(max(smallMemory, 2*f.MemoryNeeded)))))
	}
	return r
}

func checkFolder(f *Facts) Result {
	const check = "data folder"
	d := f.Folder
	r := good(check, "%s has mode %04o", d.Path, d.Mode.Perm())
	switch {
	case d.Error != nil:
		r.Measured = d.Error.Error()
		return r.because(Failure, "run this as the account of the node, and look at the folders above")
	case !d.Exists:
		return good(check, "%s does not exist: the node makes it at its first start", d.Path)
	case d.Mode.Perm()&0o002 != 0:
		return r.because(Failure, "everybody may write to it: chmod 700 "+d.Path)
	case d.Owner != d.User && d.User != 0:
		r.Measured += fmt.Sprintf(", and belongs to user %d, not to %d who checks", d.Owner, d.User)
		return r.because(Failure, "run the node, and this, as the owner of the folder")
	case d.Mode.Perm()&0o077 != 0:
		return r.because(Warning, "other accounts can open it: chmod 700 "+d.Path)
	}
	return r
}

func checkSecrets(f *Facts) Result {
	const check = "secret files"
	var found []string
	for _, s := range f.Secrets {
		switch {
		case s.Missing && s.Credential != "":
			found = append(found, s.What+" (the credential "+s.Credential+")")
		case s.Missing && s.Needed && s.Hidden && f.Cluster != nil:
			found = append(found, s.What+" (which the running node has)")
		case s.Missing && s.Needed && s.Hidden:
			return good(check, "%s, the %s, is missing, and this account can't see the credentials of systemd", s.Path, s.What).
				because(Warning, "look for mintmark.cluster.key in /etc/credstore and /etc/credstore.encrypted as root")
		case s.Missing && s.Needed && f.Cluster != nil:
			return good(check, "%s, the %s, is missing, and the running node has it in memory", s.Path, s.What).
				because(Warning, "before a restart put it back from its safe place, unless a service manager gives it to the node")
		case s.Missing && s.Needed:
			return good(check, "%s, the %s, is missing", s.Path, s.What).because(Failure, "put it back from its safe place, or correct the setting that names it")
		case s.Missing:
		case s.Error != nil:
			return good(check, "%v", s.Error).because(Failure, "give it to the account of the node only, with mode 0600")
		case f.Folder.Exists && s.Owner != f.Folder.Owner && s.Owner != 0:
			return good(check, "%s belongs to user %d, and the data folder to user %d", s.Path, s.Owner, f.Folder.Owner).
				because(Failure, "chown it to the account of the node")
		default:
			found = append(found, s.What)
		}
	}
	if len(found) == 0 {
		return good(check, "there are none yet")
	}
	return good(check, "only their owner can read them: %s", strings.Join(found, ", "))
}

// listeners returns the settings of listeners and their addresses.
func (f *Facts) listeners() [][2]string {
	return [][2]string{
		{config.KeyListen, f.Options.Listen},
		{config.KeyOpsListen, f.Options.OpsListen},
		{config.KeyClusterListen, f.Options.ClusterListen},
		{config.KeyOperatorsListen, f.Options.OperatorsListen},
	}
}

func checkPorts(f *Facts) Result {
	const check = "ports"
	var low []string
	for _, l := range f.listeners() {
		_, text, _ := net.SplitHostPort(l[1])
		if port, err := strconv.Atoi(text); err == nil && port > 0 && port < f.LowPorts {
			low = append(low, l[0]+" "+text)
		}
	}
	switch {
	case len(low) == 0:
		return good(check, "none below %d", f.LowPorts)
	case f.MayBindLow:
		return good(check, "%s, which this account may use", strings.Join(low, ", "))
	case f.Unit != nil && f.Unit.allowsLowPorts():
		return good(check, "%s, which %s allows", strings.Join(low, ", "), f.Unit.Path)
	case f.Cluster != nil:
		return good(check, "%s, which the running node uses", strings.Join(low, ", "))
	}
	return good(check, "%s, which this account may not use", strings.Join(low, ", ")).
		because(Warning, "give the program the capability, as a systemd unit does with AmbientCapabilities=CAP_NET_BIND_SERVICE, or choose a port from 1024 on")
}

func checkProxy(f *Facts) Result {
	const check = "proxy headers"
	o := &f.Options
	trusted, err := proxy.Parse(o.TrustedProxies)
	if err != nil {
		return Result{} // of the settings
	}
	open, public := !isLoopback(o.Listen), strings.HasPrefix(o.PublicURL, "https://")
	switch {
	case len(trusted) == 0 && o.TLS.Cert != "":
		return good(check, "clients reach %s directly, over TLS", o.Listen)
	case len(trusted) == 0 && open:
		return good(check, "clients reach %s directly, and trusted-proxy is empty", o.Listen).because(Warning,
			"if a proxy is in front, set trusted-proxy to its address: otherwise all clients count as one, and share its limits")
	case len(trusted) == 0 && public:
		return good(check, "%s is behind a proxy on this machine, and trusted-proxy is empty", o.Listen).because(Warning,
			"set trusted-proxy to 127.0.0.1: otherwise all clients count as one, and share its limits")
	case len(trusted) == 0:
		return good(check, "not used")
	}
	if i := slices.IndexFunc(trusted, func(p netip.Prefix) bool { return p.Bits() == 0 }); i >= 0 {
		return good(check, "trusted-proxy has %s", trusted[i]).because(Failure, "name the addresses of the proxies only: any client can choose its address in the log and for limits")
	}
	if open {
		for _, p := range trusted {
			if p.Bits() < p.Addr().BitLen() && !p.Addr().IsLoopback() {
				return good(check, "%s can be reached from outside, and trusted-proxy has the network %s", o.Listen, p).
					because(Warning, "name single addresses of proxies: everybody in that network can choose the address by which he is limited")
			}
		}
	}
	return good(check, "used from %s", strings.Join(o.TrustedProxies, ", "))
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip, bad := netip.ParseAddr(host)
	return err == nil && (host == "localhost" || bad == nil && ip.Unmap().IsLoopback())
}

func size(bytes uint64) string {
	switch {
	case bytes >= 10<<30:
		return fmt.Sprintf("%d GiB", bytes>>30)
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}
