package e2e

const insideReadme = "MINTMARK_INSIDE_README"
