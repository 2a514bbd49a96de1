/* Requests and answers of rtnetlink as bytes: what is put in comes out, and no length is believed.
 */
#include <linux/rtnetlink.h>
#include <stdint.h>

#include "sys/netlink.h"
#include "unit.h"

static struct netlink_request request;

static void begin(void)
{
	struct ifinfomsg link = {.ifi_index = 7};

	netlink_begin(&request, RTM_SETLINK, 0, &link, sizeof(link));
}

static struct netlink_attrs attrs(void)
{
	return netlink_attrs_of(&request.head, sizeof(struct ifinfomsg));
}

TEST(what_is_put_in_comes_out)
{
	struct netlink_attrs left;
	struct netlink_attr attr;
	uint32_t number;

	begin();
	netlink_put_str(&request, IFLA_IFNAME, "eth0x");
	netlink_put_u32(&request, IFLA_MASTER, 0x12345678);
	CHECK(!request.too_long);
	CHECK_INT(request.head.nlmsg_len, 16 + 16 + (4 + 8) + 8);
	left = attrs();
	CHECK(netlink_next(&left, &attr));
	CHECK_INT(attr.type, IFLA_IFNAME);
	CHECK_INT(attr.len, 6);
	CHECK_STR(attr.data, "eth0x");
	CHECK(!netlink_attr_u32(&attr, &number));
	CHECK(netlink_next(&left, &attr));
	CHECK(netlink_attr_u32(&attr, &number));
	CHECK_INT(number, 0x12345678);
	CHECK(!netlink_next(&left, &attr));
}

TEST(a_request_never_grows_beyond_its_space)
{
	static char large[70000];
	size_t sizes[] = {4096 - 32 - 4 + 1, 4096,     65531,	    65532, 65536,
			  sizeof(large),     SIZE_MAX, SIZE_MAX - 3};
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		begin();
		netlink_put(&request, IFLA_IFALIAS, large, sizes[i]);
		CHECK(request.too_long);
		CHECK_INT(request.head.nlmsg_len, 32);
		/* What comes after it must not make the request look whole. */
		netlink_put_u32(&request, IFLA_MASTER, 1);
		CHECK(request.too_long);
		CHECK(netlink_ask(-1, &request, NULL, NULL) < 0);
	}
	begin();
	netlink_put(&request, IFLA_IFALIAS, large, 4096 - 32 - 4);
	CHECK(!request.too_long);
	CHECK_INT(request.head.nlmsg_len, 4096);
	netlink_put(&request, IFLA_IFALIAS, large, 0);
	CHECK(request.too_long);
}

TEST(many_small_attributes_end_at_the_space_too)
{
	int i, n = 0;

	begin();
	for (i = 0; i < 10000; i++) {
		netlink_put_u32(&request, IFLA_MASTER, 1);
		n += !request.too_long;
	}
	CHECK_INT(n, (4096 - 32) / 8);
	CHECK(request.head.nlmsg_len <= sizeof(request.space));
}

TEST(lengths_of_an_answer_are_not_believed)
{
	static const uint16_t lengths[] = {0, 1, 3, 13, 64, 0xffff};
	struct netlink_attrs left;
	struct netlink_attr attr;
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		begin();
		netlink_put(&request, IFLA_IFALIAS, "12345678", 8);
		memcpy(request.space + 32, &lengths[i], sizeof(lengths[i]));
		left = attrs();
		CHECK(!netlink_next(&left, &attr));
	}
	/* An answer that ends within its fixed part, or within an attribute's head. */
	request.head.nlmsg_len = 20;
	left = attrs();
	CHECK(!netlink_next(&left, &attr));
	request.head.nlmsg_len = 34;
	left = attrs();
	CHECK(!netlink_next(&left, &attr));
}

int main(void)
{
	return unit_main();
}
