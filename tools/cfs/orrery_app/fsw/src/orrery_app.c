/* A cFE app that flies a spacecraft of Orrery. Three tasks, joined by the software bus alone:
 *
 *   receiving  the app's UDP port -> the bus: messages with the telemetry's id, and no others
 *   main       telemetry -> the law -> the command, onto the bus
 *   sending    commands on the bus -> the run's UDP port
 *
 * With ORRERY_APP_OWN_UDP 0 the first and the last are left out, and ci_lab and to_lab (or a bus of your own) take
 * their places. orrery_links.h is what `orrery icd --format c` prints for the run, whose link is called `fsw`. Whether
 * packets are Orrery's own or bare messages of cFE (`framing: cfe`) is found there, too. */
#include <string.h>

#include "cfe.h"
#include "orrery_law.h"
#include "orrery_links.h"

#ifndef ORRERY_APP_OWN_UDP
#define ORRERY_APP_OWN_UDP 1
#endif
#ifndef ORRERY_APP_LISTENS /* as `peer` of the run file */
#define ORRERY_APP_LISTENS 5011
#endif
#ifndef ORRERY_APP_RUN_IP /* as `listen` of the run file */
#define ORRERY_APP_RUN_IP "127.0.0.1"
#endif
#ifndef ORRERY_APP_RUN_PORT
#define ORRERY_APP_RUN_PORT 5010
#endif

enum {
  STARTED_EID = 1,
  FAILED_EID,
  FLYING_EID,
  REFUSED_EID,
  PIPE_DEPTH = 16,
  CHILD_PRIORITY = 60,
  CHILD_STACK = 16384
};

typedef union {
  CFE_MSG_TelemetryHeader_t Header;
  struct fsw_telemetry_packet Packet;
} ORRERY_APP_Telemetry_t;

typedef union {
  CFE_MSG_CommandHeader_t Header;
  struct fsw_commands_packet Packet;
} ORRERY_APP_Command_t;

static struct {
  CFE_SB_PipeId_t TelemetryPipe;
  CFE_SB_PipeId_t CommandPipe;
  osal_id_t Socket;
  OS_SockAddr_t Run;
  uint32 Generation;
  uint32 Frames;
  ORRERY_APP_Command_t Command;
} ORRERY_APP;

void ORRERY_APP_Main(void);

/* ---- the law ----------------------------------------------------------------------------------------------------- */

/* A message of the right length that is whole. */
static bool IsTelemetry(const CFE_MSG_Message_t *Message) {
  CFE_MSG_Size_t Size = 0;

  CFE_MSG_GetSize(Message, &Size);
  return Size == fsw_telemetry_PACKET_BYTES;
}

#ifdef fsw_telemetry_PACKET_SUM_BYTES
/* Orrery's packets say which frame they are, and a command says which it answers. A frame that comes again, in
 * lockstep, gets the answer that it got: false, and the command is as it was. */
static bool Answer(const struct fsw_telemetry_packet *Telemetry, struct fsw_commands_packet *Command) {
  const uint8 *Summed = (const uint8 *)Telemetry + fsw_telemetry_PACKET_SUM_AT;

  if (orrery_crc32c(Summed, fsw_telemetry_PACKET_SUM_BYTES) != Telemetry->crc32c) {
    CFE_EVS_SendEvent(REFUSED_EID, CFE_EVS_EventType_ERROR, "ORRERY: telemetry with a wrong sum");
    return false;
  }
  if (ORRERY_APP.Frames > 0 && Telemetry->frame == Command->answered) {
    return true;
  }
  ORRERY_APP.Frames++;
  Command->frame = orrery_command_frame(ORRERY_APP.Generation, fsw_LAYOUT_TAG, ORRERY_APP.Frames);
  Command->time_ns = Telemetry->time_ns;
  Command->answered = Telemetry->frame;
  return true;
}

static void Finish(struct fsw_commands_packet *Command) {
  Command->crc32c = orrery_crc32c((const uint8 *)Command + fsw_commands_PACKET_SUM_AT, fsw_commands_PACKET_SUM_BYTES);
}
#else
static bool Answer(const struct fsw_telemetry_packet *Telemetry, struct fsw_commands_packet *Command) {
  (void)Telemetry;
  (void)Command;
  ORRERY_APP.Frames++;
  return true;
}

static void Finish(struct fsw_commands_packet *Command) { (void)Command; }
#endif

static void Fly(const ORRERY_APP_Telemetry_t *Telemetry) {
  struct fsw_commands_packet *Command = &ORRERY_APP.Command.Packet;
  double Torque[3];

  if (!Answer(&Telemetry->Packet, Command)) {
    return;
  }
  orrery_law(Telemetry->Packet.gyro_rate, Telemetry->Packet.star_attitude, Telemetry->Packet.bus_target, Torque);
  Command->wheel_x_torque = Torque[0];
  Command->wheel_y_torque = Torque[1];
  Command->wheel_z_torque = Torque[2];
  Finish(Command);
  CFE_SB_TransmitMsg(CFE_MSG_PTR(ORRERY_APP.Command.Header), true);
  if (ORRERY_APP.Frames == 1) {
    CFE_EVS_SendEvent(FLYING_EID, CFE_EVS_EventType_INFORMATION, "ORRERY: the first frame is here");
  }
}

/* ---- its own way out of the bus and into it ---------------------------------------------------------------------- */

#if ORRERY_APP_OWN_UDP
/* Whoever can send to this port shall command nothing on the bus: telemetry alone goes through. */
static void Receive(void) {
  CFE_SB_Buffer_t *Buffer = NULL;
  OS_SockAddr_t From;

  for (;;) {
    if (Buffer == NULL) {
      Buffer = CFE_SB_AllocateMessageBuffer(fsw_telemetry_PACKET_BYTES + 1);
    }
    if (Buffer == NULL) {
      OS_TaskDelay(100);
      continue;
    }
    OS_SocketAddrInit(&From, OS_SocketDomain_INET);
    int32 Size = OS_SocketRecvFrom(ORRERY_APP.Socket, Buffer, fsw_telemetry_PACKET_BYTES + 1, &From, OS_PEND);
    CFE_SB_MsgId_t Id = CFE_SB_INVALID_MSG_ID;
    if (Size != fsw_telemetry_PACKET_BYTES || !IsTelemetry(&Buffer->Msg)) {
      continue;
    }
    CFE_MSG_GetMsgId(&Buffer->Msg, &Id);
    if (CFE_SB_MsgIdToValue(Id) == fsw_telemetry_ID && CFE_SB_TransmitBuffer(Buffer, false) == CFE_SUCCESS) {
      Buffer = NULL; /* the bus has it now */
    }
  }
}

static void Send(void) {
  CFE_SB_Buffer_t *Buffer;
  CFE_MSG_Size_t Size;

  while (CFE_SB_ReceiveBuffer(&Buffer, ORRERY_APP.CommandPipe, CFE_SB_PEND_FOREVER) == CFE_SUCCESS) {
    Size = 0;
    CFE_MSG_GetSize(&Buffer->Msg, &Size);
    OS_SocketSendTo(ORRERY_APP.Socket, Buffer, Size, &ORRERY_APP.Run);
  }
}

static CFE_Status_t OpenWays(void) {
  OS_SockAddr_t Here;
  CFE_ES_TaskId_t Task;
  CFE_Status_t Status;

  OS_SocketAddrInit(&Here, OS_SocketDomain_INET);
  OS_SocketAddrInit(&ORRERY_APP.Run, OS_SocketDomain_INET);
  OS_SocketAddrFromString(&Here, "127.0.0.1");
  OS_SocketAddrFromString(&ORRERY_APP.Run, ORRERY_APP_RUN_IP);
  OS_SocketAddrSetPort(&Here, ORRERY_APP_LISTENS);
  OS_SocketAddrSetPort(&ORRERY_APP.Run, ORRERY_APP_RUN_PORT);
  if (OS_SocketOpen(&ORRERY_APP.Socket, OS_SocketDomain_INET, OS_SocketType_DATAGRAM) != OS_SUCCESS ||
      OS_SocketBind(ORRERY_APP.Socket, &Here) != OS_SUCCESS) {
    CFE_EVS_SendEvent(FAILED_EID, CFE_EVS_EventType_ERROR, "ORRERY: cannot listen at port %d", ORRERY_APP_LISTENS);
    return CFE_STATUS_EXTERNAL_RESOURCE_FAIL;
  }
  Status = CFE_SB_CreatePipe(&ORRERY_APP.CommandPipe, PIPE_DEPTH, "ORRERY_OUT");
  if (Status == CFE_SUCCESS) {
    Status = CFE_SB_Subscribe(CFE_SB_ValueToMsgId(fsw_commands_ID), ORRERY_APP.CommandPipe);
  }
  if (Status == CFE_SUCCESS) {
    Status =
        CFE_ES_CreateChildTask(&Task, "ORRERY_SEND", Send, CFE_ES_TASK_STACK_ALLOCATE, CHILD_STACK, CHILD_PRIORITY, 0);
  }
  if (Status == CFE_SUCCESS) {
    Status = CFE_ES_CreateChildTask(&Task, "ORRERY_RECEIVE", Receive, CFE_ES_TASK_STACK_ALLOCATE, CHILD_STACK,
                                    CHILD_PRIORITY, 0);
  }
  return Status;
}
#else
static CFE_Status_t OpenWays(void) { return CFE_SUCCESS; }
#endif

/* ---- the app ----------------------------------------------------------------------------------------------------- */

static CFE_Status_t Begin(void) {
  CFE_Status_t Status = CFE_EVS_Register(NULL, 0, CFE_EVS_EventFilter_BINARY);

  ORRERY_APP.Generation = CFE_TIME_GetTime().Seconds;
  CFE_MSG_Init(CFE_MSG_PTR(ORRERY_APP.Command.Header), CFE_SB_ValueToMsgId(fsw_commands_ID), fsw_commands_PACKET_BYTES);
  if (Status == CFE_SUCCESS) {
    Status = CFE_SB_CreatePipe(&ORRERY_APP.TelemetryPipe, PIPE_DEPTH, "ORRERY_IN");
  }
  if (Status == CFE_SUCCESS) {
    Status = CFE_SB_Subscribe(CFE_SB_ValueToMsgId(fsw_telemetry_ID), ORRERY_APP.TelemetryPipe);
  }
  return Status == CFE_SUCCESS ? OpenWays() : Status;
}

void ORRERY_APP_Main(void) {
  uint32 RunStatus = CFE_ES_RunStatus_APP_RUN;
  CFE_SB_Buffer_t *Buffer;

  if (Begin() == CFE_SUCCESS) {
    CFE_EVS_SendEvent(STARTED_EID, CFE_EVS_EventType_INFORMATION, "ORRERY: telemetry 0x%04x, commands 0x%04x",
                      fsw_telemetry_ID, fsw_commands_ID);
  } else {
    RunStatus = CFE_ES_RunStatus_APP_ERROR;
  }
  while (CFE_ES_RunLoop(&RunStatus)) {
    if (CFE_SB_ReceiveBuffer(&Buffer, ORRERY_APP.TelemetryPipe, CFE_SB_PEND_FOREVER) != CFE_SUCCESS) {
      RunStatus = CFE_ES_RunStatus_APP_ERROR;
    } else if (IsTelemetry(&Buffer->Msg)) {
      Fly((const ORRERY_APP_Telemetry_t *)(const void *)Buffer);
    }
  }
  CFE_ES_ExitApp(RunStatus);
}
