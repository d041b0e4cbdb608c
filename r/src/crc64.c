/* CRC-64/NVME, as used by S3: reflected, with the polynomial of the NVM Command Set Specification 1.0, 5.2.1.3.4.
 *
 * If the processor can multiply without carries, 64 bytes at a time are folded: 16 bytes are replaced by the 16 bytes
 * 64 further on that are congruent to them modulo the polynomial (Gopal et al., "Fast CRC computation for generic
 * polynomials using PCLMULQDQ", 2009). The result is 16 bytes with the same CRC, which are processed with the table. */

#include "cenote.h"

#define POLYNOMIAL UINT64_C(0x9a6c9329ac4bc9b5)

static uint64_t table[8][256]; /* table[n][b]: b, followed by n zeros */

static uint64_t times_x(uint64_t value) { return (value >> 1) ^ ((value & 1) ? POLYNOMIAL : 0); }

static void make_table(void) {
  for (int byte = 0; byte < 256; byte++) {
    uint64_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = times_x(crc);
    table[0][byte] = crc;
  }
  for (int zeros = 1; zeros < 8; zeros++)
    for (int byte = 0; byte < 256; byte++) {
      uint64_t before = table[zeros - 1][byte];
      table[zeros][byte] = (before >> 8) ^ table[0][before & 255];
    }
}

static uint64_t by_table(uint64_t crc, const unsigned char *bytes, size_t size) {
  for (; size >= 8; size -= 8, bytes += 8) {
    uint64_t sum = 0;
    for (int n = 0; n < 8; n++) sum ^= table[7 - n][((crc >> (8 * n)) ^ bytes[n]) & 255];
    crc = sum;
  }
  while (size--) crc = (crc >> 8) ^ table[0][(crc ^ *bytes++) & 255];
  return crc;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define FOLDS __attribute__((target("pclmul,sse2")))

static int folds;
static uint64_t over[2][2]; /* what 16 bytes are multiplied by to count for those 16 and 64 bytes further on */

static uint64_t power_of_x(int n) {
  uint64_t value = UINT64_C(1) << 63;
  while (n--) value = times_x(value);
  return value;
}

/* A product of reflected numbers is one bit short: hence one less than the distance. */
static void make_folds(void) {
  const int distances[2] = {128, 512};
  for (int i = 0; i < 2; i++) {
    over[i][0] = power_of_x(distances[i] + 63);
    over[i][1] = power_of_x(distances[i] - 1);
  }
  folds = __builtin_cpu_supports("pclmul");
}

FOLDS static __m128i load(const unsigned char *bytes) { return _mm_loadu_si128((const __m128i *)bytes); }

FOLDS static __m128i fold(__m128i lane, __m128i distance, __m128i next) {
  __m128i low = _mm_clmulepi64_si128(lane, distance, 0x00), high = _mm_clmulepi64_si128(lane, distance, 0x11);
  return _mm_xor_si128(next, _mm_xor_si128(low, high));
}

/* Of at least 64 bytes, in multiples of 64. */
FOLDS static uint64_t by_folding(uint64_t crc, const unsigned char *bytes, size_t size) {
  const __m128i by16 = load((const unsigned char *)over[0]), by64 = load((const unsigned char *)over[1]);
  __m128i lanes[4];
  for (int i = 0; i < 4; i++) lanes[i] = load(bytes + 16 * i);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi64_si128((long long)crc));
  for (size_t at = 64; at < size; at += 64)
    for (int i = 0; i < 4; i++) lanes[i] = fold(lanes[i], by64, load(bytes + at + 16 * i));
  for (int i = 1; i < 4; i++) lanes[i] = fold(lanes[i - 1], by16, lanes[i]);
  unsigned char left[16];
  _mm_storeu_si128((__m128i *)left, lanes[3]);
  return by_table(0, left, sizeof left);
}

static uint64_t update(uint64_t crc, const unsigned char *bytes, size_t size) {
  size_t folded = folds ? size / 64 * 64 : 0;
  if (folded) crc = by_folding(crc, bytes, folded);
  return by_table(crc, bytes + folded, size - folded);
}
#else
static void make_folds(void) {}
#define update by_table
#endif

void crc64nvme_prepare(void) {
  make_table();
  make_folds();
}

uint64_t crc64nvme(uint64_t crc, const unsigned char *bytes, size_t size) { return ~update(~crc, bytes, size); }
