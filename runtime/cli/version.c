#include "cli/cli.h"
#include "oci/oci.h"

const char cli_version[] = "sbxrun version " SBXRUN_VERSION "\ncommit: " SBXRUN_COMMIT
			   "\nspec: " OCI_VERSION_MAX "\n";
