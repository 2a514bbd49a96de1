# shellcheck shell=bash
# For the soak tests: a sentence that says what was tried and how often, kept for the long form.
figure() {
	[ -z "${SOAK_REPORT:-}" ] || echo "soak $*" >>"$SOAK_REPORT"
}
