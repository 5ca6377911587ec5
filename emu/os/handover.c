#include "os/handover.h"

#include "os/stream.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

/* Room for the two descriptors beside a message. */
union passage {
    char bytes[CMSG_SPACE(2 * sizeof(int))];
    struct cmsghdr aligned;
};

/* What is sent as bytes. */
struct words {
    uint32_t from;
    int32_t error;
};

bool emu_handover_open(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0;
}

bool emu_handover_send(int end, const struct emu_handover *given)
{
    struct words words = {given->from, given->error};
    struct iovec part = {&words, sizeof words};
    union passage passage = {{0}};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (given->error == 0) {
        message.msg_control = passage.bytes;
        message.msg_controllen = sizeof passage.bytes;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof given->fds);
        memcpy(CMSG_DATA(head), given->fds, sizeof given->fds);
    }
    ssize_t sent;
    do
        sent = sendmsg(end, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof words;
}

/* Descriptors that came for nothing. */
static void drop(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int fd = fds[i];
        emu_stream_close(&fd);
    }
}

static enum emu_handover_news unpack(struct msghdr *message, const struct words *words,
                                     struct emu_handover *got)
{
    struct cmsghdr *head = CMSG_FIRSTHDR(message);
    size_t count = head ? (head->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
    int fds[2] = {-1, -1};
    if (head)
        memcpy(fds, CMSG_DATA(head), (count < 2 ? count : 2) * sizeof(int));
    if (words->error == 0 && count < 2) { /* the kernel had no room for them here */
        drop(fds, count);
        errno = EMFILE;
        return EMU_HANDOVER_REFUSED;
    }
    *got = (struct emu_handover){words->from, words->error, {fds[0], fds[1]}};
    return EMU_HANDOVER_CAME;
}

enum emu_handover_news emu_handover_receive(int end, int timeout_ms, struct emu_handover *got)
{
    struct pollfd ready = {.fd = end, .events = POLLIN};
    struct words words;
    struct iovec part = {&words, sizeof words};
    union passage passage;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = passage.bytes,
                             .msg_controllen = sizeof passage.bytes};
    if (poll(&ready, 1, timeout_ms) <= 0)
        return EMU_HANDOVER_NOTHING;
    ssize_t size = recvmsg(end, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (size < 0)
        return errno == EINTR || errno == EAGAIN ? EMU_HANDOVER_NOTHING : EMU_HANDOVER_REFUSED;
    if (size != (ssize_t)sizeof words)
        return EMU_HANDOVER_CLOSED;
    return unpack(&message, &words, got);
}
