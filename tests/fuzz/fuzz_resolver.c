/* The resolver of a box: a packet of the program's. */
#include "box/hints.h"
#include "box/resolver.h"
#include "fuzz.h"

void fuzz_one(char *text, size_t len, struct arena *a)
{
	unsigned char packet[RESOLVER_PACKET_MAX];
	char name[RESOLVER_NAME_MAX];
	const char *clean;
	size_t n, i;

	len = len < sizeof(packet) ? len : sizeof(packet);
	memcpy(packet, text, len);
	n = resolver_answer(packet, len, name);
	DEMAND(n <= len);
	if (!n)
		return;
	/* An answer without records to the very question, which is not there a second time. */
	DEMAND(packet[2] & 0x80 && packet[0] == (unsigned char)text[0] &&
	       packet[1] == (unsigned char)text[1]);
	DEMAND(!packet[6] && !packet[7] && !packet[8] && !packet[9] && !packet[10] && !packet[11]);
	DEMAND(memchr(name, '\0', sizeof(name)));
	DEMAND(!resolver_answer(packet, n, name));
	clean = hint_clean(name, a);
	for (i = 0; clean[i]; i++)
		DEMAND((unsigned char)clean[i] >= 0x20 && clean[i] != 0x7f);
}
