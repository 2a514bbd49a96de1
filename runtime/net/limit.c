#include "net/limit.h"

#include "sys/loop.h"

enum {
	BURSTS = 10,	     /* a second's worth comes in so many parts at least … */
	BURST_LEAST = 4096,  /* … which are no smaller */
	AT_ONCE = 16 << 10, /* of one connection, so that others have their turn */
};

void limit_set(struct limit *l, uint64_t most, uint64_t rate)
{
	l->most = most;
	l->rate = rate;
	l->left = 0;
	l->refilled = 0;
}

static uint64_t limit_burst(const struct limit *l)
{
	const uint64_t burst = l->rate / BURSTS;

	return burst < BURST_LEAST ? BURST_LEAST : burst;
}

/* A long pause is worth no more than one burst. */
static void limit_refill(struct limit *l, int64_t now)
{
	const uint64_t burst = limit_burst(l);
	const double seconds = (double)(now - l->refilled) / (double)LOOP_SECOND;
	const double more = seconds > 1 ? (double)burst : seconds * (double)l->rate;

	if (more < 1)
		return;
	l->refilled = now;
	l->left += more > (double)burst ? burst : (uint64_t)more;
	l->left = l->left < burst ? l->left : burst;
}

bool limit_is_spent(const struct limit *l)
{
	return l->most && l->spent >= l->most;
}

size_t limit_room(struct limit *l, size_t want, int64_t now)
{
	if (l->most && want > l->most - l->spent)
		want = (size_t)(limit_is_spent(l) ? 0 : l->most - l->spent);
	if (!l->rate)
		return want;
	limit_refill(l, now);
	want = want < AT_ONCE ? want : AT_ONCE;
	return want < l->left ? want : (size_t)l->left;
}

bool limit_has(const struct limit *l, size_t n)
{
	return !l->most || !n || (l->spent < l->most && n <= l->most - l->spent);
}

void limit_spend(struct limit *l, size_t n)
{
	l->spent += n;
	l->left -= n < l->left ? n : l->left;
}

bool limit_pauses(struct limit *l, int64_t now, int64_t *ret)
{
	if (!l->rate)
		return false;
	limit_refill(l, now);
	if (l->left)
		return false;
	*ret = now + LOOP_SECOND / BURSTS / 5;
	return true;
}
