package scope

// Scopes of the authorized user's own resources. Each comment is the description of the
// scope in section 2.4 of the service document.
const (
	EventTypeRead  = "EVENT_TYPE_READ"  // Listing and viewing event types, their private links, and event type webhooks.
	EventTypeWrite = "EVENT_TYPE_WRITE" // Creating, updating and deleting event types; managing private links; managing event type webhooks.
	BookingRead    = "BOOKING_READ"     // Listing bookings; viewing recordings, transcripts, calendar links, references, and booking attendees.
	BookingWrite   = "BOOKING_WRITE"    // Adding guests and attendees, updating locations, confirming, declining, and reassigning bookings.
	ScheduleRead   = "SCHEDULE_READ"    // Listing and viewing schedules; viewing out-of-office entries.
	ScheduleWrite  = "SCHEDULE_WRITE"   // Creating, updating and deleting schedules and out-of-office entries.
	AppsRead       = "APPS_READ"        // Listing connected calendars, checking busy times, checking ICS feeds, verifying calendar connections, viewing conferencing apps.
	AppsWrite      = "APPS_WRITE"       // Saving ICS feeds, connecting calendars via OAuth, saving Apple calendar credentials, disconnecting calendars, connecting and disconnecting conferencing apps, managing selected and destination calendars.
	ProfileRead    = "PROFILE_READ"     // Viewing the authorized user's profile.
	ProfileWrite   = "PROFILE_WRITE"    // Updating the authorized user's profile.
)

// Scopes of endpoints that name a team. ORG_X also grants TEAM_X.
const (
	TeamEventTypeRead   = "TEAM_EVENT_TYPE_READ"  // View team event types, their private links, and webhooks.
	TeamEventTypeWrite  = "TEAM_EVENT_TYPE_WRITE" // Create, edit, delete team event types, their private links, and webhooks.
	TeamBookingRead     = "TEAM_BOOKING_READ"     // View team bookings.
	TeamBookingWrite    = "TEAM_BOOKING_WRITE"    // Create, edit, delete team bookings.
	TeamScheduleRead    = "TEAM_SCHEDULE_READ"    // View team schedules and out-of-office entries.
	TeamScheduleWrite   = "TEAM_SCHEDULE_WRITE"   // Create, edit, delete team schedules and out-of-office entries.
	TeamProfileRead     = "TEAM_PROFILE_READ"     // View team profiles.
	TeamProfileWrite    = "TEAM_PROFILE_WRITE"    // Create, edit, delete teams.
	TeamMembershipRead  = "TEAM_MEMBERSHIP_READ"  // View team memberships.
	TeamMembershipWrite = "TEAM_MEMBERSHIP_WRITE" // Create, edit, delete team memberships.
)

// Scopes of endpoints that name an organization and no team.
const (
	OrgEventTypeRead   = "ORG_EVENT_TYPE_READ"  // View all event types across the organization.
	OrgEventTypeWrite  = "ORG_EVENT_TYPE_WRITE" // Create, edit, delete event types across the organization.
	OrgBookingRead     = "ORG_BOOKING_READ"     // View all bookings across the organization.
	OrgBookingWrite    = "ORG_BOOKING_WRITE"    // Create, edit, delete bookings across the organization.
	OrgScheduleRead    = "ORG_SCHEDULE_READ"    // View schedules and out-of-office entries across the organization.
	OrgScheduleWrite   = "ORG_SCHEDULE_WRITE"   // Create, edit, delete schedules and out-of-office entries across the organization.
	OrgProfileRead     = "ORG_PROFILE_READ"     // View organization teams.
	OrgProfileWrite    = "ORG_PROFILE_WRITE"    // Create, edit, delete organization teams.
	OrgMembershipRead  = "ORG_MEMBERSHIP_READ"  // View organization memberships and users.
	OrgMembershipWrite = "ORG_MEMBERSHIP_WRITE" // Create, edit, delete organization memberships and users.
)
