/* A stand-in for the headers of cFE and OSAL: what the app of tools/cfs uses of them, with the shapes and the meaning
 * that their public documentation gives. It is enough to compile the app and to fly it; tests/cfe/cfe.c does the work
 * on threads and sockets of this machine. Names are cFE's. */
#ifndef ORR_TESTS_CFE_STAND_IN_H
#define ORR_TESTS_CFE_STAND_IN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t int32;
typedef uint8_t uint8;
typedef uint16_t uint16;
typedef uint32_t uint32;

/* ---- messages ---------------------------------------------------------------------------------------------------- */

typedef struct {
  uint8 Primary[6];
} CFE_MSG_Message_t;
typedef struct {
  CFE_MSG_Message_t Msg;
  uint8 FunctionCode, Checksum;
} CFE_MSG_CommandHeader_t;
typedef struct {
  CFE_MSG_Message_t Msg;
  uint8 Time[6], Spare[4];
} CFE_MSG_TelemetryHeader_t;
typedef union {
  CFE_MSG_Message_t Msg;
  long long LongInt;
  long double LongDouble;
} CFE_SB_Buffer_t;
typedef size_t CFE_MSG_Size_t;
typedef struct {
  uint32 Value;
} CFE_SB_MsgId_t;
typedef uint32 CFE_SB_MsgId_Atom_t;
typedef int32 CFE_Status_t;

#define CFE_MSG_PTR(header)   (&(header).Msg)
#define CFE_SB_INVALID_MSG_ID ((CFE_SB_MsgId_t){0})
#define CFE_SUCCESS           0
enum {
  CFE_STATUS_EXTERNAL_RESOURCE_FAIL = -1,
  CFE_SB_BAD_ARGUMENT = -2,
  CFE_SB_TIME_OUT = -3,
  CFE_SB_MAX_PIPES_MET = -4,
  CFE_SB_PEND_FOREVER = -1
};

static inline CFE_SB_MsgId_t CFE_SB_ValueToMsgId(CFE_SB_MsgId_Atom_t value) { return (CFE_SB_MsgId_t){value}; }
static inline CFE_SB_MsgId_Atom_t CFE_SB_MsgIdToValue(CFE_SB_MsgId_t id) { return id.Value; }
CFE_Status_t CFE_MSG_Init(CFE_MSG_Message_t *message, CFE_SB_MsgId_t id, CFE_MSG_Size_t size);
CFE_Status_t CFE_MSG_GetSize(const CFE_MSG_Message_t *message, CFE_MSG_Size_t *size);
CFE_Status_t CFE_MSG_GetMsgId(const CFE_MSG_Message_t *message, CFE_SB_MsgId_t *id);

/* ---- software bus ------------------------------------------------------------------------------------------------ */

typedef int CFE_SB_PipeId_t;
CFE_Status_t CFE_SB_CreatePipe(CFE_SB_PipeId_t *pipe, uint16 depth, const char *name);
CFE_Status_t CFE_SB_Subscribe(CFE_SB_MsgId_t id, CFE_SB_PipeId_t pipe);
CFE_Status_t CFE_SB_TransmitMsg(const CFE_MSG_Message_t *message, bool is_origination);
CFE_SB_Buffer_t *CFE_SB_AllocateMessageBuffer(size_t size);
CFE_Status_t CFE_SB_TransmitBuffer(CFE_SB_Buffer_t *buffer, bool is_origination);
CFE_Status_t CFE_SB_ReceiveBuffer(CFE_SB_Buffer_t **buffer, CFE_SB_PipeId_t pipe, int32 timeout);

/* ---- apps, events, time ------------------------------------------------------------------------------------------ */

enum { CFE_ES_RunStatus_APP_RUN = 1, CFE_ES_RunStatus_APP_EXIT, CFE_ES_RunStatus_APP_ERROR };
enum { CFE_EVS_EventType_INFORMATION = 2, CFE_EVS_EventType_ERROR };
#define CFE_EVS_EventFilter_BINARY 0
#define CFE_ES_TASK_STACK_ALLOCATE NULL
typedef int CFE_ES_TaskId_t;
bool CFE_ES_RunLoop(uint32 *status);
void CFE_ES_ExitApp(uint32 status);
CFE_Status_t CFE_ES_CreateChildTask(CFE_ES_TaskId_t *task, const char *name, void (*main)(void), void *stack,
                                    size_t stack_size, uint16 priority, uint32 flags);
CFE_Status_t CFE_EVS_Register(const void *filters, uint16 count, uint16 scheme);
CFE_Status_t CFE_EVS_SendEvent(uint16 id, uint16 type, const char *format, ...) __attribute__((format(printf, 3, 4)));
typedef struct {
  uint32 Seconds, Subseconds;
} CFE_TIME_SysTime_t;
CFE_TIME_SysTime_t CFE_TIME_GetTime(void);

/* ---- OSAL -------------------------------------------------------------------------------------------------------- */

typedef int osal_id_t;
typedef struct sockaddr_in OS_SockAddr_t;
enum { OS_SUCCESS = 0, OS_ERROR = -1, OS_PEND = -1, OS_SocketDomain_INET = 1, OS_SocketType_DATAGRAM = 1 };
int32 OS_SocketAddrInit(OS_SockAddr_t *address, int domain);
int32 OS_SocketAddrFromString(OS_SockAddr_t *address, const char *text);
int32 OS_SocketAddrSetPort(OS_SockAddr_t *address, uint16 port);
int32 OS_SocketOpen(osal_id_t *socket, int domain, int type);
int32 OS_SocketBind(osal_id_t socket, const OS_SockAddr_t *address);
int32 OS_SocketRecvFrom(osal_id_t socket, void *buffer, size_t size, OS_SockAddr_t *from, int32 timeout);
int32 OS_SocketSendTo(osal_id_t socket, const void *buffer, size_t size, const OS_SockAddr_t *to);
int32 OS_TaskDelay(uint32 ms);

#endif
