/* A link over UDP with a key: what the run takes, and what it refuses and counts apart. Packets are handed to it as the
 * relay does; tests/e2e/keyed.sh flies over sockets, with both clients. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/client/client_seal.h"
#include "io/links/packets/udp.h"
#include "io/wire/key.h"
#include "tests/support/steps.h"

static char key_file[] = "/tmp/orrery.test.key.XXXXXX";
static const char digits[] = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F\n";

struct rig {
  struct orr_link_rig link;
  struct orr_run_link desc;
  struct orr_udp udp;
  struct sockaddr_in from, elsewhere;
  struct orr_client_seal *client;
  uint8_t reply[ORR_WIRE_PACKET_MAX];
};

struct datagram {
  uint8_t bytes[ORR_WIRE_PACKET_MAX];
  size_t size;
};

static struct orr_client_seal *new_client(uint8_t first) {
  uint8_t key[ORR_WIRE_KEY_BYTES];
  for (size_t i = 0; i < sizeof key; i++)
    key[i] = (uint8_t)i;
  key[0] = first;
  struct orr_client_seal *s = orr_client_seal_make(key);
  assert_non_null(s);
  return s;
}

static void make(struct rig *r) {
  static const uint32_t allow[] = {INADDR_LOOPBACK};
  orr_link_rig_init(&r->link, 0, 188);
  r->desc = (struct orr_run_link){.divisor = ORR_RIG_DIVISOR,
                                  .telemetry_id = 0x0e80,
                                  .command_id = 0x1e80,
                                  .packet_max = 1432,
                                  .allow = allow,
                                  .allow_count = 1,
                                  .key_file = key_file};
  r->from =
      (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  r->elsewhere = r->from;
  r->elsewhere.sin_port = htons(10);
  assert_int_equal(orr_udp_prepare(&r->udp, &r->desc, &r->link.layout, 1000000), 0);
  r->client = new_client(0);
}

static void done(struct rig *r) {
  orr_client_seal_free(r->client);
  orr_udp_close(&r->udp);
}

/* A word of generation `generation`, without a seal. */
static struct datagram word(enum orr_wire_function function, uint32_t generation) {
  struct datagram d;
  const struct orr_wire_packet p = {
      .id = function == ORR_WIRE_DESCRIBE ? ORR_WIRE_DESCRIPTION_ID | ORR_WIRE_ID_COMMAND : 0x1e80,
      .function = (uint8_t)function,
      .frame = function == ORR_WIRE_DESCRIBE ? 0 : orr_wire_command_frame(generation, 0, 1)};
  d.size = orr_wire_packet_write(d.bytes, &p, NULL, 0);
  return d;
}

static struct datagram sealed(struct orr_client_seal *by, enum orr_wire_function function, uint32_t generation) {
  struct datagram d = word(function, generation);
  d.size = orr_client_seal_put(by, d.bytes, d.size, function == ORR_WIRE_DESCRIBE);
  return d;
}

static size_t receive(struct rig *r, const struct sockaddr_in *from, const struct datagram *d) {
  return orr_udp_receive(&r->udp, from, d->bytes, d->size, r->reply);
}

static uint64_t refused(struct rig *r, enum orr_refusal why) { return atomic_load(&r->udp.packets.refused[why]); }
static uint32_t peers(struct rig *r) { return atomic_load(&r->udp.packets.peers); }
static uint32_t ended(struct rig *r) { return atomic_load(&r->udp.packets.ended); }

/* As a client comes: it asks, and learns the number of the run from the answer. */
static void enter(struct rig *r, struct orr_client_seal *client, const struct sockaddr_in *from, uint32_t generation) {
  size_t packet_bytes, answer;
  struct datagram d = sealed(client, ORR_WIRE_DESCRIBE, 0);
  answer = receive(r, from, &d);
  assert_true(answer > 0);
  assert_int_equal(orr_client_seal_take(client, r->reply, answer, &packet_bytes), ORR_CLIENT_SEALED);
  assert_int_equal(client->run, r->udp.packets.seal->run);
  d = sealed(client, ORR_WIRE_BEAT, generation);
  assert_int_equal(receive(r, from, &d), 0);
}

static void who_has_the_key_enters_and_ends_the_run(void **state) {
  (void)state;
  struct rig r;
  make(&r);
  enter(&r, r.client, &r.from, 7);
  assert_int_equal(peers(&r), 1);
  struct datagram d = sealed(r.client, ORR_WIRE_END, 7);
  receive(&r, &r.from, &d);
  assert_int_equal(ended(&r), 1);
  for (int k = 1; k < ORR_REFUSALS; k++)
    assert_int_equal(refused(&r, (enum orr_refusal)k), 0);
  done(&r);
}

/* Frames out are sealed for the peer; its packets are not taken twice, and the run's own are not taken by the run. */
static void frames_are_for_the_peer_alone(void **state) {
  (void)state;
  struct rig r;
  uint64_t head[ORR_WIRE_OUT_WORDS];
  uint8_t packet[ORR_WIRE_PACKET_MAX];
  uint32_t piece = 0;
  size_t bytes;
  make(&r);
  enter(&r, r.client, &r.from, 7);
  struct orr_client_seal *other = new_client(0);
  other->run = r.client->run;
  orr_link_rig_publish(&r.link, head);
  orr_packets_publish(&r.udp.packets, head, r.link.values);
  size_t n = orr_packets_send(&r.udp.packets, &piece, packet);
  assert_int_equal(orr_client_seal_take(other, packet, n, &bytes), ORR_CLIENT_REPLAYED);
  assert_int_equal(orr_client_seal_take(r.client, packet, n, &bytes), ORR_CLIENT_SEALED);
  assert_int_equal(bytes, n - ORR_WIRE_SEAL_BYTES);
  assert_int_equal(orr_client_seal_take(r.client, packet, n, &bytes), ORR_CLIENT_REPLAYED);
  assert_int_equal(orr_udp_receive(&r.udp, &r.from, packet, n, r.reply), 0);
  assert_int_equal(refused(&r, ORR_REFUSAL_FORGED), 1);
  struct datagram back = sealed(r.client, ORR_WIRE_BEAT, 7);
  assert_int_equal(orr_client_seal_take(r.client, back.bytes, back.size, &bytes), ORR_CLIENT_FORGED);
  orr_client_seal_free(other);
  done(&r);
}

static void another_key_or_none_changes_nothing(void **state) {
  (void)state;
  struct rig r;
  struct orr_wire_packet p = {0};
  const uint8_t *piece;
  size_t bytes;
  make(&r);
  enter(&r, r.client, &r.from, 7);
  struct orr_client_seal *wrong = new_client(1);
  wrong->run = r.client->run;
  wrong->peer = r.client->peer;
  wrong->sent = r.client->sent;
  for (int k = 0; k < 2; k++)
    for (enum orr_wire_function f = ORR_WIRE_COMMANDS; f < ORR_WIRE_FUNCTIONS; f++) {
      uint64_t before = refused(&r, ORR_REFUSAL_FORGED);
      struct datagram d = k ? word(f, 8) : sealed(wrong, f, 8);
      size_t answer = receive(&r, &r.from, &d);
      assert_int_equal(refused(&r, ORR_REFUSAL_FORGED), before + 1);
      if (answer == 0)
        continue;
      /* a word for people, and nothing of the run in it */
      assert_int_equal(f, ORR_WIRE_DESCRIBE);
      assert_int_equal(answer, 16 + ORR_WIRE_BLOCK_HEAD + ORR_WIRE_CRC_BYTES);
      assert_true(orr_wire_packet_read(r.reply, answer, &p, &piece, &bytes));
      assert_true(p.flags == ORR_WIRE_OUT_KEYED && p.time_ns == 0 && p.answered == 0);
    }
  assert_int_equal(peers(&r), 1);
  assert_int_equal(ended(&r), 0);
  assert_int_equal(r.udp.packets.generation, 7);
  orr_client_seal_free(wrong);
  done(&r);
}

static void any_bit_that_flips_is_noticed_at_both_ends(void **state) {
  (void)state;
  struct rig r;
  size_t bytes;
  make(&r);
  enter(&r, r.client, &r.from, 7);
  struct datagram d = sealed(r.client, ORR_WIRE_END, 7);
  for (size_t bit = 0; bit < 8 * d.size; bit++) {
    d.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    receive(&r, &r.from, &d);
    d.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  for (size_t cut = 0; cut < d.size; cut++) {
    const struct datagram shorter = {.size = cut};
    struct datagram c = shorter;
    memcpy(c.bytes, d.bytes, cut);
    receive(&r, &r.from, &c);
  }
  assert_int_equal(refused(&r, ORR_REFUSAL_FORGED), 9 * d.size);
  assert_int_equal(ended(&r), 0);
  receive(&r, &r.from, &d);
  assert_int_equal(ended(&r), 1);
  size_t n = orr_packets_farewell(&r.udp.packets, r.reply);
  for (size_t bit = 0; bit < 8 * n; bit++) {
    r.reply[bit / 8] ^= (uint8_t)(1 << bit % 8);
    assert_int_equal(orr_client_seal_take(r.client, r.reply, n, &bytes), ORR_CLIENT_FORGED);
    r.reply[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  assert_int_equal(orr_client_seal_take(r.client, r.reply, n, &bytes), ORR_CLIENT_SEALED);
  done(&r);
}

/* What a stranger took down while an earlier run flew, with the same key at the same port. */
static void packets_of_an_earlier_run_are_replayed(void **state) {
  (void)state;
  struct rig r, next;
  size_t bytes;
  make(&r);
  enter(&r, r.client, &r.from, 7);
  struct datagram beat = sealed(r.client, ORR_WIRE_BEAT, 7), end = sealed(r.client, ORR_WIRE_END, 7);
  struct datagram question = sealed(r.client, ORR_WIRE_DESCRIBE, 0);
  uint8_t answer[ORR_WIRE_PACKET_MAX];
  size_t answered = orr_udp_receive(&r.udp, &r.from, question.bytes, question.size, answer);
  make(&next);
  receive(&next, &next.from, &beat);
  receive(&next, &next.from, &end);
  assert_int_equal(refused(&next, ORR_REFUSAL_REPLAYED), 2);
  assert_int_equal(peers(&next) + ended(&next), 0);
  /* a client that asks now takes no answer of then */
  assert_int_equal(orr_client_seal_take(next.client, answer, answered, &bytes), ORR_CLIENT_REPLAYED);
  assert_int_equal(next.client->run, 0);
  /* and one of then, which asks whether its run lives, is told that it does not */
  assert_int_equal(orr_client_seal_take(r.client, answer, answered, &bytes), ORR_CLIENT_SEALED);
  answered = receive(&next, &next.from, &question);
  assert_int_equal(orr_client_seal_take(r.client, next.reply, answered, &bytes), ORR_CLIENT_ANOTHER_RUN);
  enter(&next, next.client, &next.from, 7);
  receive(&next, &next.from, &end);
  assert_int_equal(ended(&next), 0);
  done(&r);
  done(&next);
}

static void packets_of_this_run_are_taken_once(void **state) {
  (void)state;
  struct rig r;
  make(&r);
  enter(&r, r.client, &r.from, 7);
  struct datagram a = sealed(r.client, ORR_WIRE_AGAIN, 7), b = sealed(r.client, ORR_WIRE_BEAT, 7);
  uint64_t heard = atomic_load(&r.udp.packets.heard);
  receive(&r, &r.from, &b); /* overtaken */
  receive(&r, &r.from, &a);
  assert_int_equal(atomic_load(&r.udp.packets.heard), heard + 2);
  for (int k = 0; k < 3; k++) {
    receive(&r, &r.from, &a);
    receive(&r, &r.elsewhere, &b);
  }
  assert_int_equal(refused(&r, ORR_REFUSAL_REPLAYED), 6);
  assert_int_equal(atomic_load(&r.udp.packets.heard), heard + 2);
  /* after it left, and under another peer, those of the first still count for nothing */
  struct datagram leaves = sealed(r.client, ORR_WIRE_LEAVE, 7), end = sealed(r.client, ORR_WIRE_END, 7);
  receive(&r, &r.from, &leaves);
  struct orr_client_seal *second = new_client(0);
  enter(&r, second, &r.elsewhere, 9);
  assert_int_equal(peers(&r), 2);
  receive(&r, &r.from, &end);
  receive(&r, &r.elsewhere, &end);
  receive(&r, &r.elsewhere, &b);
  assert_int_equal(ended(&r), 0);
  assert_int_equal(r.udp.packets.generation, 9);
  assert_int_equal(refused(&r, ORR_REFUSAL_FOREIGN), 3);
  orr_client_seal_free(second);
  done(&r);
}

/* One more than the newest generation, and END: what ended runs once. */
static void a_stranger_without_the_key_takes_nothing_over(void **state) {
  (void)state;
  struct rig r;
  make(&r);
  enter(&r, r.client, &r.from, 7);
  struct datagram leaves = sealed(r.client, ORR_WIRE_LEAVE, 7);
  receive(&r, &r.from, &leaves); /* the place is free: without a key anybody who is allowed could have it */
  for (enum orr_wire_function f = ORR_WIRE_COMMANDS; f < ORR_WIRE_FUNCTIONS; f++) {
    struct datagram d = word(f, 8);
    receive(&r, &r.elsewhere, &d);
    receive(&r, &r.from, &d);
  }
  assert_int_equal(refused(&r, ORR_REFUSAL_FORGED), 2 * ORR_WIRE_FUNCTIONS);
  assert_int_equal(peers(&r), 1);
  assert_int_equal(ended(&r), 0);
  done(&r);
}

/* Beside a list of all that came. */
static void counters_are_seen_once_in_any_order(void **state) {
  (void)state;
  enum { MOST = 6000 };
  static bool came[MOST];
  struct orr_wire_seen s = {0};
  uint64_t newest = 0, taken = 0;
  uint32_t dice = 1;
  assert_true(orr_wire_seen_has(&s, 0));
  for (int k = 0; k < 200000; k++) {
    dice = dice * 1664525 + 1013904223;
    uint64_t span = dice >> 30 ? 40 : 2600, base = (uint64_t)k / 40;
    uint64_t c = 1 + (base + (dice >> 8) % span) % (MOST - 1);
    bool expected = came[c] || (c <= newest && newest - c >= ORR_WIRE_SEEN);
    assert_int_equal(orr_wire_seen_has(&s, c), expected);
    if (expected)
      continue;
    orr_wire_seen_add(&s, c);
    taken++;
    came[c] = true;
    newest = c > newest ? c : newest;
  }
  assert_true(taken > 2000);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void write_key(const char *path, const char *text, mode_t mode) {
  unlink(path);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  assert_int_equal(fchmod(fd, mode), 0);
  close(fd);
}

static void a_key_file_is_ours_alone_and_a_key(void **state) {
  (void)state;
  char path[] = "/tmp/orrery.test.keys.XXXXXX", file[80], fifo[80], why[400];
  uint8_t key[ORR_WIRE_KEY_BYTES];
  assert_non_null(mkdtemp(path));
  snprintf(file, sizeof file, "%s/key", path);
  snprintf(fifo, sizeof fifo, "%s/fifo", path);
  static const struct {
    const char *text;
    mode_t mode;
    const char *says;
  } files[] = {
      {digits, 0644, "others may read or write it (mode 0644): chmod 600"},
      {digits, 0620, "others may read or write it"},
      {digits, 0602, "others may read or write it"},
      {"", 0600, "64 hexadecimal digits"},
      {"0001", 0600, "64 hexadecimal digits"},
      {"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1g", 0600, "64 hexadecimal digits"},
      {"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n\n", 0600, "64 hexadecimal digits"},
      {"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f0", 0600, "64 hexadecimal digits"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    write_key(file, files[i].text, files[i].mode);
    assert_int_not_equal(orr_wire_key_read(file, key, why, sizeof why), 0);
    assert_non_null(strstr(why, files[i].says));
    assert_non_null(strstr(why, file));
    assert_null(strstr(why, "0001"));
  }
  assert_int_not_equal(orr_wire_key_read("/no\033[2J\nsuch", key, why, sizeof why), 0);
  assert_string_equal(why, "key file /no?[2J?such: No such file or directory");
  write_key(file, digits, 0400);
  assert_int_equal(orr_wire_key_read(file, key, why, sizeof why), 0);
  for (size_t i = 0; i < sizeof key; i++)
    assert_int_equal(key[i], i);
  if (geteuid() == 0 && chown(file, 12345, 0) == 0) {
    assert_int_not_equal(orr_wire_key_read(file, key, why, sizeof why), 0);
    assert_non_null(strstr(why, "belongs to user 12345"));
  }
  assert_int_equal(mkfifo(fifo, 0600), 0);
  assert_int_not_equal(orr_wire_key_read(fifo, key, why, sizeof why), 0);
  assert_non_null(strstr(why, "not a regular file"));
  assert_int_not_equal(orr_wire_key_read(path, key, why, sizeof why), 0);
  unlink(fifo);
  unlink(file);
  assert_int_equal(rmdir(path), 0);
}

static int set_up(void **state) {
  (void)state;
  int fd = mkstemp(key_file);
  bool good = fd >= 0 && write(fd, digits, sizeof digits - 1) == sizeof digits - 1;
  return good ? close(fd) : 1;
}

static int tear_down(void **state) {
  (void)state;
  return unlink(key_file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_has_the_key_enters_and_ends_the_run),
      cmocka_unit_test(frames_are_for_the_peer_alone),
      cmocka_unit_test(another_key_or_none_changes_nothing),
      cmocka_unit_test(any_bit_that_flips_is_noticed_at_both_ends),
      cmocka_unit_test(packets_of_an_earlier_run_are_replayed),
      cmocka_unit_test(packets_of_this_run_are_taken_once),
      cmocka_unit_test(a_stranger_without_the_key_takes_nothing_over),
      cmocka_unit_test(counters_are_seen_once_in_any_order),
      cmocka_unit_test(a_key_file_is_ours_alone_and_a_key),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
