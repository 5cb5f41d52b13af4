/* The lock service (src/tessera/lock/lock_server.hpp, lock_client.hpp, lock_proxy.hpp), small enough
 * to look at all of it: three clients, one server, one store, one byte that all of them want to
 * write. With PROXY, two of them are processes of one node and talk to its proxy, which is a client
 * of the server.
 *
 *   grant    in the order of arrival; the message may be late
 *   expire   a session that was not heard of for its lease loses its locks...
 *   fence    ...but its byte is granted again only when the store refuses it (L4)
 *   restart  the server forgets all; for as long as old leases last it grants only what is
 *            reclaimed, and then has the store refuse all older sessions
 *   freeze   any client may do nothing for any time; what it has sent arrives whenever it likes
 *   delegate the proxy keeps the byte, and grants it to the processes of its node in turn
 *   recall   it hears that somebody waits, lets the process that has the byte finish, and gives the
 *            delegation back; the proxy may die, too, and another takes its place
 *
 * Time is only what leases say: a client knows that its lease is over before the server does, and a
 * process before the proxy does.
 *
 * What is checked, in every state that can be reached:
 *   (L1) the store takes no write of one client while the server has promised the byte to another;
 *   (L2) who waits holds nothing;
 *   (L3) grants follow the order of arrival;
 *   (L4) a session that held the byte and ended is refused by the store before the next grant;
 *   and no state is a dead end: whoever asks can still be served.
 *
 * On the node the same holds for the proxy instead of the server.
 *
 * Each of NO_FENCE, NO_GRACE and RESUME takes one protection away, and must fail; with PROXY also
 * NO_DRAIN, a delegation that is given back while a process has the byte, and NO_VIA, writes that do
 * not name the session of the proxy.
 *
 *   spin -a lock_service.pml && cc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m1000000
 *   spin -DPROXY -a lock_service.pml && ... the same
 */

#ifdef PROXY
#define CLIENTS 2   /* of the server: the proxy, and one that has none */
#define SESSIONS 3  /* that are ever made; 0 is none */
#define PROCESSES 2 /* of the node */
#define NODE_SESSIONS 2
#else
#define CLIENTS 3
#define SESSIONS 4
#endif
#define FAULTS 1 /* restarts of the server, or deaths of the proxy */

/* Of sessions. */
byte owner[SESSIONS + 1];  /* the client */
bool live[SESSIONS + 1];   /* the server knows it */
bool refused[SESSIONS + 1]; /* the store does not take its writes */
bool ended[SESSIONS + 1];   /* it held the byte when its lease was over, or its server went */
byte sessions = 0;

/* Of the server. */
bool grace = false;   /* only what was held is granted */
byte held_by = 0;     /* the session that has the byte */
bool fencing = false; /* held_by has ended, and the store is being told */
byte faults = 0;
chan queue = [SESSIONS] of { byte }; /* sessions that wait, in their order */
byte first_fenced = 0;              /* sessions up to this one are of older servers */

/* Of clients. */
byte session[CLIENTS];
bool waits[CLIENTS];   /* has asked, and not been answered */
bool granted[CLIENTS]; /* the answer is under way */
bool holds[CLIENTS];
bool lease[CLIENTS];  /* the server has heard of it less than a lease ago, and it knows */
byte writing[CLIENTS]; /* the session of a write that is under way */

inline make_session(c) {
  sessions++;
  owner[sessions] = c;
  live[sessions] = true;
  session[c] = sessions;
  lease[c] = true
}

#define can_ask(c) (live[session[c]] || sessions < SESSIONS)

inline ask(c) {
  if
  :: live[session[c]]
  :: else -> make_session(c)
  fi;
  waits[c] = true;
  lease[c] = true;
  queue ! session[c];
  grant_next()
}

/* Whether a lease of this client, from a session up to the last, may still count. */
#define counts(c, last) (holds[c] && lease[c] && session[c] <= last)

/* The client gives up what it has; a write of it may still be under way. */
inline lose(c) {
  holds[c] = false;
  waits[c] = false;
  granted[c] = false
}

#define was_fenced(s) (!ended[s] || refused[s])

inline grant_next() {
  if
  :: held_by == 0 && !grace && len(queue) > 0 ->
#ifndef NO_FENCE
     /* (L4) */
     assert(was_fenced(1) && was_fenced(2) && was_fenced(3) && was_fenced(SESSIONS));
#endif
     queue ? held_by;
     /* What is said to a session that its client has given up is not heard. */
     granted[owner[held_by]] = (session[owner[held_by]] == held_by)
  :: else
  fi
}

/* The store takes a write, or refuses it. */
inline arrive(c) {
  if
  :: refused[writing[c]]
  :: else ->
     /* (L1) */
     assert(held_by == 0 || owner[held_by] == c)
  fi;
  writing[c] = 0
}

proctype Client(byte c) {
end:
  do
  /* Asks for the byte, in a session that lives or a new one. */
  :: atomic {
       !holds[c] && !waits[c] && writing[c] == 0 && can_ask(c) ->
       ask(c)
     }
  /* The answer arrives. (L2): until now it had nothing. */
  :: atomic {
       granted[c] ->
       assert(waits[c] && !holds[c]);
       granted[c] = false;
       waits[c] = false;
       holds[c] = true
     }
  /* Says that it is alive, or hears that it is dead. */
  :: atomic {
       session[c] != 0 && !lease[c] && live[session[c]] && !grace ->
#ifdef RESUME
       lease[c] = true;
       /* It has given its lock up, and says so. */
       if
       :: !holds[c] && held_by == session[c] && !granted[c] -> held_by = 0; grant_next()
       :: else
       fi
#else
       if
       :: holds[c] -> skip /* too late: see below */
       :: else -> lease[c] = true
       fi
#endif
     }
  :: atomic {
       session[c] != 0 && !live[session[c]] && !(holds[c] && lease[c]) ->
       lose(c);
       session[c] = 0
     }
  /* The lease is over while it holds the byte: it gives up the session too. */
  :: atomic {
       holds[c] && !lease[c] ->
       lose(c);
#ifndef RESUME
       session[c] = 0
#endif
     }
  /* Writes, if the lease lasts; the write is under way for any time. */
  :: atomic { holds[c] && lease[c] && writing[c] == 0 -> writing[c] = session[c] }
  :: atomic { writing[c] != 0 -> arrive(c) }
  /* Releases when its write is done. */
  :: atomic {
       holds[c] && writing[c] == 0 && live[session[c]] ->
       holds[c] = false;
       if
       :: held_by == session[c] && !fencing -> held_by = 0; grant_next()
       :: else
       fi
     }
  /* Reclaims from a server that was restarted, while the old lease lasts. */
  :: atomic {
       grace && holds[c] && lease[c] && !live[session[c]] && held_by == 0 &&
       sessions < SESSIONS ->
       make_session(c);
       held_by = session[c]
     }
  od
}

#ifdef PROXY
#define P 0 /* the proxy, as a client of the server */
#ifdef NO_DRAIN
#define is_drained true
#else
#define is_drained (n_held_by == 0)
#endif

/* Of sessions with the proxy. */
byte n_owner[NODE_SESSIONS + 1];   /* the process */
bool n_live[NODE_SESSIONS + 1];    /* the proxy knows it */
bool n_refused[NODE_SESSIONS + 1]; /* the store does not take its writes */
bool n_ended[NODE_SESSIONS + 1];   /* it had the byte when its lease was over */
byte n_sessions = 0;

/* Of the proxy. */
byte n_held_by = 0;     /* the session that has the byte */
bool n_fencing = false; /* it has ended, and the store is being told */
bool recalled = false;  /* somebody waits for the delegation */
chan n_queue = [NODE_SESSIONS] of { byte };

/* Of processes; as of clients. */
byte n_session[PROCESSES];
bool n_waits[PROCESSES];
bool n_granted[PROCESSES];
bool n_holds[PROCESSES];
bool n_lease[PROCESSES];   /* of one that holds the byte */
byte n_via[PROCESSES];     /* the session of the proxy in which it was granted the byte */
byte n_writing[PROCESSES]; /* these two of a write that is under way */
byte n_writing_via[PROCESSES];

inline n_lose(c) {
  n_holds[c] = false;
  n_waits[c] = false;
  n_granted[c] = false;
  n_lease[c] = false;
  n_via[c] = 0
}

#define n_was_fenced(s) (!n_ended[s] || n_refused[s])

inline n_grant_next() {
  if
  :: n_held_by == 0 && holds[P] && lease[P] && !recalled && len(n_queue) > 0 ->
#ifndef NO_FENCE
     /* (L4) */
     assert(n_was_fenced(1) && n_was_fenced(NODE_SESSIONS));
#endif
     n_queue ? n_held_by;
     n_granted[n_owner[n_held_by]] = (n_session[n_owner[n_held_by]] == n_held_by)
  :: else
  fi
}

/* What the process had stood on the proxy's session, which the store refuses before others have the
 * byte. The process is told later. */
inline withdraw() {
  if
  :: n_held_by != 0 ->
     n_granted[n_owner[n_held_by]] = false;
     n_ended[n_held_by] = false;
     n_held_by = 0;
     n_fencing = false
  :: else
  fi;
  recalled = false
}

inline n_arrive(c) {
  if
#ifndef NO_VIA
  :: refused[n_writing_via[c]]
#endif
  :: n_refused[n_writing[c]]
  :: else ->
     /* (L1) */
     assert(held_by == 0 || owner[held_by] == P);
     assert(n_held_by == 0 || n_owner[n_held_by] == c)
  fi;
  n_writing[c] = 0;
  n_writing_via[c] = 0
}

proctype Process(byte c) {
end:
  do
  /* Asks for the byte, in a session that lives or a new one. Processes are alike: the first is the
   * first to come. */
  :: atomic {
       !n_holds[c] && !n_waits[c] && n_writing[c] == 0 && (c == 0 || n_sessions > 0) &&
       (n_live[n_session[c]] || n_sessions < NODE_SESSIONS) ->
       if
       :: n_live[n_session[c]]
       :: else ->
          n_sessions++;
          n_owner[n_sessions] = c;
          n_live[n_sessions] = true;
          n_session[c] = n_sessions
       fi;
       n_waits[c] = true;
       n_queue ! n_session[c];
       n_grant_next()
     }
  /* The answer arrives, on a connection that names the session of the proxy. (L2) */
  :: atomic {
       n_granted[c] ->
       assert(n_waits[c] && !n_holds[c]);
       n_granted[c] = false;
       n_waits[c] = false;
       n_holds[c] = true;
       n_lease[c] = lease[P];
       n_via[c] = session[P]
     }
  /* Comes back to a proxy that has another session, with the lock that it still has. */
  :: atomic {
       n_holds[c] && n_held_by == n_session[c] && holds[P] && n_via[c] != session[P] ->
       n_via[c] = session[P]
     }
  /* Hears that the session is dead, that the lock is lost, or sees that the lease is over. */
  :: atomic {
       n_session[c] != 0 && !n_live[n_session[c]] ->
       n_lose(c);
       n_session[c] = 0
     }
  :: atomic { n_holds[c] && n_held_by != n_session[c] -> n_lose(c) }
  :: atomic {
       n_holds[c] && !n_lease[c] ->
       n_lose(c);
       n_session[c] = 0
     }
  :: atomic {
       n_holds[c] && n_lease[c] && n_writing[c] == 0 ->
       n_writing[c] = n_session[c];
       n_writing_via[c] = n_via[c]
     }
  :: atomic { n_writing[c] != 0 -> n_arrive(c) }
  :: atomic {
       n_holds[c] && n_writing[c] == 0 && n_live[n_session[c]] ->
       n_lose(c);
       if
       :: n_held_by == n_session[c] && !n_fencing -> n_held_by = 0; n_grant_next()
       :: else
       fi
     }
  od
}

proctype Proxy() {
  byte s;
end:
  do
  :: atomic {
       session[P] != 0 && !lease[P] && !holds[P] && live[session[P]] && !grace ->
       lease[P] = true
     }
  /* Delegate: asked for when a process asks, and kept. */
  :: atomic {
       !holds[P] && !waits[P] && len(n_queue) > 0 && can_ask(P) ->
       ask(P)
     }
  :: atomic {
       granted[P] ->
       assert(waits[P] && !holds[P]);
       granted[P] = false;
       waits[P] = false;
       holds[P] = true;
       n_grant_next()
     }
  /* Recall: from now on nothing is granted on the node. */
  :: atomic { holds[P] && !recalled && held_by == session[P] && len(queue) > 0 -> recalled = true }
  /* Given back when nothing stands on it: because it was recalled, or is of no use. */
  :: atomic {
       holds[P] && live[session[P]] && (recalled || len(n_queue) == 0) && is_drained ->
       holds[P] = false;
       recalled = false;
       if
       :: held_by == session[P] && !fencing -> held_by = 0; grant_next()
       :: else
       fi
     }
  /* Reclaims it from a server that was restarted. */
  :: atomic {
       grace && holds[P] && lease[P] && !live[session[P]] && held_by == 0 && sessions < SESSIONS ->
       make_session(P);
       held_by = session[P]
     }
  /* Loses it with its session. */
  :: atomic {
       session[P] != 0 && !live[session[P]] && !(holds[P] && lease[P]) ->
       lose(P);
       withdraw();
       session[P] = 0
     }
  :: atomic {
       holds[P] && !lease[P] ->
       lose(P);
       withdraw();
       session[P] = 0
     }
  /* The session of a process that has the byte is over: the store is told, then others have it. */
  :: atomic {
       n_held_by != 0 && !n_fencing && n_live[n_held_by] &&
       (n_session[n_owner[n_held_by]] != n_held_by || !n_lease[n_owner[n_held_by]]) ->
       n_live[n_held_by] = false;
       n_ended[n_held_by] = true;
       n_fencing = true
     }
  :: atomic {
       n_fencing ->
#ifndef NO_FENCE
       n_refused[n_held_by] = true;
#endif
       n_held_by = 0;
       n_fencing = false;
       n_grant_next()
     }
  /* Dies; another takes its place, and knows nothing. */
  :: atomic {
       faults < FAULTS ->
       faults++;
       lose(P);
       withdraw();
       session[P] = 0;
       s = 1;
       do
       :: s <= NODE_SESSIONS -> n_live[s] = false; s++
       :: else -> break
       od;
       do
       :: len(n_queue) > 0 -> n_queue ? s
       :: else -> break
       od;
       s = 0;
       do
       :: s < PROCESSES -> n_granted[s] = false; n_waits[s] = false; s++
       :: else -> break
       od
     }
  od
}
#endif

/* Time passes for the lease of a client that asks or holds. */
#define matters(c) (lease[c] && (waits[c] || holds[c]))

proctype Time() {
end:
  do
#ifdef PROXY
  /* What the proxy has promised ends before what it was promised. */
  :: atomic { matters(P) && !n_lease[0] && !n_lease[1] -> lease[P] = false }
  :: atomic { n_lease[0] -> n_lease[0] = false }
  :: atomic { n_lease[1] -> n_lease[1] = false }
#else
  :: atomic { matters(0) -> lease[0] = false }
  :: atomic { matters(2) -> lease[2] = false }
#endif
  :: atomic { matters(1) -> lease[1] = false }
  od
}

proctype Server() {
  byte s, other;
end:
  do
  /* The lease of a session is over; that of its client was before. */
  :: atomic {
       held_by != 0 && !fencing && live[held_by] && session[owner[held_by]] == held_by &&
       !lease[owner[held_by]] ->
       live[held_by] = false;
       ended[held_by] = true;
       fencing = true
     }
  :: atomic {
       held_by != 0 && !fencing && live[held_by] && session[owner[held_by]] != held_by ->
       live[held_by] = false;
       ended[held_by] = true;
       fencing = true
     }
  /* The store has acknowledged. */
  :: atomic {
       fencing ->
#ifndef NO_FENCE
       refused[held_by] = true;
#endif
       held_by = 0;
       fencing = false;
       grant_next()
     }
  /* Killed, and started again. */
  :: atomic {
       faults < FAULTS ->
       faults++;
       s = 1;
       do
       :: s <= SESSIONS -> live[s] = false; s++
       :: else -> break
       od;
       do
       :: len(queue) > 0 -> queue ? s
       :: else -> break
       od;
       other = 0;
       do
       :: other < CLIENTS -> granted[other] = false; waits[other] = false; other++
       :: else -> break
       od;
       ended[held_by] = (held_by != 0);
       held_by = 0;
       fencing = false;
       first_fenced = sessions;
#ifndef NO_GRACE
       grace = true
#endif
     }
  /* Every lease that the old one gave is over, or its lock reclaimed; the store refuses the rest. */
  :: atomic {
       grace && !counts(0, first_fenced) && !counts(1, first_fenced) &&
       !counts(CLIENTS - 1, first_fenced) ->
#ifndef NO_FENCE
       s = 1;
       do
       :: s <= first_fenced -> refused[s] = true; s++
       :: else -> break
       od;
#endif
       grace = false;
       grant_next()
     }
  od
}

init {
  atomic {
#ifdef PROXY
    run Proxy();
    run Process(0);
    run Process(1);
#else
    run Client(0);
    run Client(2);
#endif
    run Client(1);
    run Time();
    run Server()
  }
}
