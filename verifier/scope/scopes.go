package scope

// catalogue is section 2.4 of the service document, in its order. It is append-only: to
// rename or remove an entry would take access away from tokens and grants that have it.
var catalogue = [...]Scope{
	{
		Name: EventTypeRead, Level: User, Area: "Event types",
		Allows: "Listing and viewing event types, their private links, and event type webhooks.",
		Plain:  "See your event types, their private links and webhooks.",
	},
	{
		Name: EventTypeWrite, Level: User, Area: "Event types", Writes: true,
		Allows: "Creating, updating and deleting event types; managing private links; managing event type webhooks.",
		Plain:  "Create, change and delete your event types, their private links and webhooks.",
	},
	{
		Name: BookingRead, Level: User, Area: "Bookings",
		Allows: "Listing bookings; viewing recordings, transcripts, calendar links, references, and booking attendees.",
		Plain:  "See your bookings, who attends them, and their recordings and transcripts.",
	},
	{
		Name: BookingWrite, Level: User, Area: "Bookings", Writes: true,
		Allows: "Adding guests and attendees, updating locations, confirming, declining, and reassigning bookings.",
		Plain:  "Confirm, decline and reassign your bookings, add guests and change where they take place.",
	},
	{
		Name: ScheduleRead, Level: User, Area: "Schedules",
		Allows: "Listing and viewing schedules; viewing out-of-office entries.",
		Plain:  "See your schedules and when you are out of office.",
	},
	{
		Name: ScheduleWrite, Level: User, Area: "Schedules", Writes: true,
		Allows: "Creating, updating and deleting schedules and out-of-office entries.",
		Plain:  "Create, change and delete your schedules and out-of-office times.",
	},
	{
		Name: AppsRead, Level: User, Area: "Apps and calendars",
		Allows: "Listing connected calendars, checking busy times, checking ICS feeds, verifying calendar connections, viewing conferencing apps.",
		Plain:  "See your connected calendars and conferencing apps, and when you are busy.",
	},
	{
		Name: AppsWrite, Level: User, Area: "Apps and calendars", Writes: true,
		Allows: "Saving ICS feeds, connecting calendars via OAuth, saving Apple calendar credentials, disconnecting calendars, connecting and disconnecting conferencing apps, managing selected and destination calendars.",
		Plain:  "Connect and disconnect your calendars and conferencing apps, and choose which calendars are used.",
	},
	{
		Name: ProfileRead, Level: User, Area: "Profile",
		Allows: "Viewing the authorized user's profile.",
		Plain:  "See your profile, such as your name and email address.",
	},
	{
		Name: ProfileWrite, Level: User, Area: "Profile", Writes: true,
		Allows: "Updating the authorized user's profile.",
		Plain:  "Change your profile.",
	},
	{
		Name: TeamEventTypeRead, Level: Team, Area: "Event types",
		Allows: "View team event types, their private links, and webhooks.",
		Plain:  "See your teams' event types, their private links and webhooks.",
	},
	{
		Name: TeamEventTypeWrite, Level: Team, Area: "Event types", Writes: true,
		Allows: "Create, edit, delete team event types, their private links, and webhooks.",
		Plain:  "Create, change and delete your teams' event types, their private links and webhooks.",
	},
	{
		Name: TeamBookingRead, Level: Team, Area: "Bookings",
		Allows: "View team bookings.",
		Plain:  "See your teams' bookings.",
	},
	{
		Name: TeamBookingWrite, Level: Team, Area: "Bookings", Writes: true,
		Allows: "Create, edit, delete team bookings.",
		Plain:  "Create, change and delete your teams' bookings.",
	},
	{
		Name: TeamScheduleRead, Level: Team, Area: "Schedules",
		Allows: "View team schedules and out-of-office entries.",
		Plain:  "See your teams' schedules and out-of-office times.",
	},
	{
		Name: TeamScheduleWrite, Level: Team, Area: "Schedules", Writes: true,
		Allows: "Create, edit, delete team schedules and out-of-office entries.",
		Plain:  "Create, change and delete your teams' schedules and out-of-office times.",
	},
	{
		Name: TeamProfileRead, Level: Team, Area: "Teams",
		Allows: "View team profiles.",
		Plain:  "See your teams' profiles.",
	},
	{
		Name: TeamProfileWrite, Level: Team, Area: "Teams", Writes: true, Controls: true,
		Allows: "Create, edit, delete teams.",
		Plain:  "Create, change and delete teams.",
	},
	{
		Name: TeamMembershipRead, Level: Team, Area: "Memberships",
		Allows: "View team memberships.",
		Plain:  "See who is a member of your teams.",
	},
	{
		Name: TeamMembershipWrite, Level: Team, Area: "Memberships", Writes: true, Controls: true,
		Allows: "Create, edit, delete team memberships.",
		Plain:  "Add, change and remove members of your teams.",
	},
	{
		Name: OrgEventTypeRead, Level: Organization, Area: "Event types",
		Allows: "View all event types across the organization.",
		Plain:  "See all event types across your organization.",
	},
	{
		Name: OrgEventTypeWrite, Level: Organization, Area: "Event types", Writes: true, Controls: true,
		Allows: "Create, edit, delete event types across the organization.",
		Plain:  "Create, change and delete event types across your organization.",
	},
	{
		Name: OrgBookingRead, Level: Organization, Area: "Bookings",
		Allows: "View all bookings across the organization.",
		Plain:  "See all bookings across your organization.",
	},
	{
		Name: OrgBookingWrite, Level: Organization, Area: "Bookings", Writes: true, Controls: true,
		Allows: "Create, edit, delete bookings across the organization.",
		Plain:  "Create, change and delete bookings across your organization.",
	},
	{
		Name: OrgScheduleRead, Level: Organization, Area: "Schedules",
		Allows: "View schedules and out-of-office entries across the organization.",
		Plain:  "See schedules and out-of-office times across your organization.",
	},
	{
		Name: OrgScheduleWrite, Level: Organization, Area: "Schedules", Writes: true, Controls: true,
		Allows: "Create, edit, delete schedules and out-of-office entries across the organization.",
		Plain:  "Create, change and delete schedules and out-of-office times across your organization.",
	},
	{
		Name: OrgProfileRead, Level: Organization, Area: "Teams",
		Allows: "View organization teams.",
		Plain:  "See your organization's teams.",
	},
	{
		Name: OrgProfileWrite, Level: Organization, Area: "Teams", Writes: true, Controls: true,
		Allows: "Create, edit, delete organization teams.",
		Plain:  "Create, change and delete your organization's teams.",
	},
	{
		Name: OrgMembershipRead, Level: Organization, Area: "Memberships",
		Allows: "View organization memberships and users.",
		Plain:  "See your organization's members and users.",
	},
	{
		Name: OrgMembershipWrite, Level: Organization, Area: "Memberships", Writes: true, Controls: true,
		Allows: "Create, edit, delete organization memberships and users.",
		Plain:  "Add, change and remove your organization's members and users.",
	},
}
