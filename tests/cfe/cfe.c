/* The stand-in at work: a software bus of a few pipes, tasks as threads, sockets. It runs one app, ORRERY_APP_Main, for
 * so many seconds as the command line says, with what CFE_TIME_GetTime shall say, and prints
 * its events. What cFE leaves undefined ends the program: a message longer than its buffer, too many pipes. */
#include "stand_in.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

void ORRERY_APP_Main(void);

enum { PIPES = 4, DEPTH = 64, MESSAGE_MAX = 8192 };

/* A buffer of the bus: how large it is stands before it. */
struct buffer {
  size_t size;
  CFE_SB_Buffer_t content[];
};

struct pipe {
  uint32 ids[4];
  int id_count, depth;
  unsigned head, tail;
  CFE_SB_Buffer_t *waiting[DEPTH];
  CFE_SB_Buffer_t *held; /* the app's until it receives again */
};

static struct {
  pthread_mutex_t lock;
  pthread_cond_t came;
  struct pipe pipes[PIPES];
  int pipe_count;
  uint16 counts[0x2000]; /* sequence counts by message id */
  uint32 clock;
} bus = {.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};

static void must(bool truth, const char *what) {
  if (truth)
    return;
  fprintf(stderr, "stand-in: %s\n", what);
  exit(70);
}

static struct buffer *buffer_of(CFE_SB_Buffer_t *content) {
  return (struct buffer *)(void *)((char *)content - offsetof(struct buffer, content));
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static uint8 *bytes_of(CFE_MSG_Message_t *message) { return (uint8 *)message; }

CFE_Status_t CFE_MSG_Init(CFE_MSG_Message_t *message, CFE_SB_MsgId_t id, CFE_MSG_Size_t size) {
  must(size >= 7 && size <= MESSAGE_MAX, "a message of that size");
  uint8 *b = bytes_of(message);
  memset(b, 0, size);
  b[0] = (uint8)(id.Value >> 8);
  b[1] = (uint8)id.Value;
  b[2] = 0xc0;
  b[4] = (uint8)((size - 7) >> 8);
  b[5] = (uint8)(size - 7);
  return CFE_SUCCESS;
}

CFE_Status_t CFE_MSG_GetSize(const CFE_MSG_Message_t *message, CFE_MSG_Size_t *size) {
  *size = ((size_t)message->Primary[4] << 8 | message->Primary[5]) + 7;
  return CFE_SUCCESS;
}

CFE_Status_t CFE_MSG_GetMsgId(const CFE_MSG_Message_t *message, CFE_SB_MsgId_t *id) {
  id->Value = (uint32)message->Primary[0] << 8 | message->Primary[1];
  return CFE_SUCCESS;
}

/* Where a message begins its way: sequence count; a command's checksum. */
static void originate(CFE_MSG_Message_t *message, size_t size) {
  CFE_SB_MsgId_t id;
  uint8 *b = bytes_of(message), sum = 0xff;
  CFE_MSG_GetMsgId(message, &id);
  uint16 count = bus.counts[id.Value & 0x1fff]++;
  b[2] = (uint8)(0xc0 | (count >> 8 & 0x3f));
  b[3] = (uint8)count;
  if (!(id.Value & 0x1000))
    return;
  b[7] = 0;
  for (size_t i = 0; i < size; i++)
    sum ^= b[i];
  b[7] = sum;
}

/* ---- software bus ------------------------------------------------------------------------------------------------ */

CFE_Status_t CFE_SB_CreatePipe(CFE_SB_PipeId_t *pipe, uint16 depth, const char *name) {
  must(bus.pipe_count < PIPES && depth <= DEPTH && strlen(name) < 20, "a pipe more, or one so deep");
  *pipe = bus.pipe_count++;
  bus.pipes[*pipe].depth = depth;
  return CFE_SUCCESS;
}

CFE_Status_t CFE_SB_Subscribe(CFE_SB_MsgId_t id, CFE_SB_PipeId_t pipe) {
  must(pipe >= 0 && pipe < bus.pipe_count && bus.pipes[pipe].id_count < 4, "a subscription of no pipe");
  bus.pipes[pipe].ids[bus.pipes[pipe].id_count++] = id.Value;
  return CFE_SUCCESS;
}

CFE_SB_Buffer_t *CFE_SB_AllocateMessageBuffer(size_t size) {
  struct buffer *b =
      malloc(sizeof *b + (size + sizeof(CFE_SB_Buffer_t) - 1) / sizeof(CFE_SB_Buffer_t) * sizeof *b->content);
  must(b != NULL, "memory");
  b->size = size;
  return b->content;
}

static CFE_SB_Buffer_t *copy_of(const CFE_MSG_Message_t *message, size_t size) {
  CFE_SB_Buffer_t *b = CFE_SB_AllocateMessageBuffer(size);
  memcpy(b, message, size);
  return b;
}

/* To each pipe that has the id a buffer of its own; a full pipe loses it. */
static void deliver(CFE_SB_Buffer_t *message, size_t size) {
  CFE_SB_MsgId_t id;
  CFE_MSG_GetMsgId(&message->Msg, &id);
  for (int p = 0; p < bus.pipe_count; p++)
    for (int i = 0; i < bus.pipes[p].id_count; i++)
      if (bus.pipes[p].ids[i] == id.Value && bus.pipes[p].tail - bus.pipes[p].head < (unsigned)bus.pipes[p].depth)
        bus.pipes[p].waiting[bus.pipes[p].tail++ % DEPTH] = copy_of(&message->Msg, size);
  pthread_cond_broadcast(&bus.came);
}

CFE_Status_t CFE_SB_TransmitBuffer(CFE_SB_Buffer_t *buffer, bool is_origination) {
  size_t size;
  CFE_MSG_GetSize(&buffer->Msg, &size);
  must(size <= buffer_of(buffer)->size, "a message that is longer than its buffer");
  pthread_mutex_lock(&bus.lock);
  if (is_origination)
    originate(&buffer->Msg, size);
  deliver(buffer, size);
  pthread_mutex_unlock(&bus.lock);
  free(buffer_of(buffer));
  return CFE_SUCCESS;
}

CFE_Status_t CFE_SB_TransmitMsg(const CFE_MSG_Message_t *message, bool is_origination) {
  size_t size;
  CFE_MSG_GetSize(message, &size);
  return CFE_SB_TransmitBuffer(copy_of(message, size), is_origination);
}

CFE_Status_t CFE_SB_ReceiveBuffer(CFE_SB_Buffer_t **buffer, CFE_SB_PipeId_t pipe, int32 timeout) {
  must(pipe >= 0 && pipe < bus.pipe_count && timeout == CFE_SB_PEND_FOREVER, "a pipe that is none, or a timeout");
  struct pipe *p = &bus.pipes[pipe];
  pthread_mutex_lock(&bus.lock);
  while (p->head == p->tail)
    pthread_cond_wait(&bus.came, &bus.lock);
  if (p->held)
    free(buffer_of(p->held));
  *buffer = p->held = p->waiting[p->head++ % DEPTH];
  pthread_mutex_unlock(&bus.lock);
  return CFE_SUCCESS;
}

/* ---- apps, events, time ------------------------------------------------------------------------------------------ */

bool CFE_ES_RunLoop(uint32 *status) { return *status == CFE_ES_RunStatus_APP_RUN; }

void CFE_ES_ExitApp(uint32 status) { must(status == CFE_ES_RunStatus_APP_EXIT, "the app ended by an error"); }

static void *run_task(void *task) {
  void (*run)(void);
  memcpy(&run, task, sizeof run);
  free(task);
  run();
  return NULL;
}

CFE_Status_t CFE_ES_CreateChildTask(CFE_ES_TaskId_t *task, const char *name, void (*main)(void), void *stack,
                                    size_t stack_size, uint16 priority, uint32 flags) {
  pthread_t thread;
  void *place = malloc(sizeof main);
  must(place && name && !stack && stack_size > 0 && priority > 0 && flags == 0, "a task like that");
  memcpy(place, &main, sizeof main);
  *task = 1;
  return pthread_create(&thread, NULL, run_task, place) == 0 ? CFE_SUCCESS : CFE_STATUS_EXTERNAL_RESOURCE_FAIL;
}

CFE_Status_t CFE_EVS_Register(const void *filters, uint16 count, uint16 scheme) {
  must(!filters && count == 0 && scheme == CFE_EVS_EventFilter_BINARY, "filters");
  return CFE_SUCCESS;
}

CFE_Status_t CFE_EVS_SendEvent(uint16 id, uint16 type, const char *format, ...) {
  va_list list;
  va_start(list, format);
  printf("event %u of type %u: ", id, type);
  vprintf(format, list);
  va_end(list);
  putchar('\n');
  fflush(stdout);
  return CFE_SUCCESS;
}

CFE_TIME_SysTime_t CFE_TIME_GetTime(void) { return (CFE_TIME_SysTime_t){.Seconds = bus.clock}; }

/* ---- OSAL -------------------------------------------------------------------------------------------------------- */

int32 OS_SocketAddrInit(OS_SockAddr_t *address, int domain) {
  must(domain == OS_SocketDomain_INET, "a domain");
  *address = (OS_SockAddr_t){.sin_family = AF_INET};
  return OS_SUCCESS;
}

int32 OS_SocketAddrFromString(OS_SockAddr_t *address, const char *text) {
  return inet_pton(AF_INET, text, &address->sin_addr) == 1 ? OS_SUCCESS : OS_ERROR;
}

int32 OS_SocketAddrSetPort(OS_SockAddr_t *address, uint16 port) {
  address->sin_port = htons(port);
  return OS_SUCCESS;
}

int32 OS_SocketOpen(osal_id_t *id, int domain, int type) {
  must(domain == OS_SocketDomain_INET && type == OS_SocketType_DATAGRAM, "a socket");
  *id = socket(AF_INET, SOCK_DGRAM, 0);
  return *id >= 0 ? OS_SUCCESS : OS_ERROR;
}

int32 OS_SocketBind(osal_id_t id, const OS_SockAddr_t *address) {
  return bind(id, (const struct sockaddr *)address, sizeof *address) == 0 ? OS_SUCCESS : OS_ERROR;
}

int32 OS_SocketRecvFrom(osal_id_t id, void *buffer, size_t size, OS_SockAddr_t *from, int32 timeout) {
  socklen_t length = sizeof *from;
  must(timeout == OS_PEND, "a timeout");
  ssize_t n = recvfrom(id, buffer, size, 0, (struct sockaddr *)from, &length);
  return n < 0 ? OS_ERROR : (int32)n;
}

int32 OS_SocketSendTo(osal_id_t id, const void *buffer, size_t size, const OS_SockAddr_t *to) {
  ssize_t n = sendto(id, buffer, size, 0, (const struct sockaddr *)to, sizeof *to);
  return n < 0 ? OS_ERROR : (int32)n;
}

int32 OS_TaskDelay(uint32 ms) {
  usleep(1000 * ms);
  return OS_SUCCESS;
}

static void *run_app(void *unused) {
  (void)unused;
  ORRERY_APP_Main();
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t app;
  must(argc == 3, "SECONDS CLOCK");
  bus.clock = (uint32)strtoul(argv[2], NULL, 10);
  must(pthread_create(&app, NULL, run_app, NULL) == 0, "a thread");
  sleep((unsigned)atoi(argv[1]));
  return 0;
}
