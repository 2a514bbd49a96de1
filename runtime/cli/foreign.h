/* Our names for options and commands of other tools (docker, runc, bubblewrap), for those who try
 * them out of habit. Pure; data. */
#pragma once

/* The remedy, or NULL. command: do, box, run, create or exec. option: without dashes. */
const char *foreign_option(const char *command, const char *option);

const char *foreign_command(const char *name);

/* The verb of box that does it. */
const char *foreign_verb(const char *name);
