/* The lock service (src/tessera/lock/lock_server.hpp, lock_client.hpp), small enough to look at all
 * of it: three clients, one server, one store, one byte that all of them want to write.
 *
 *   grant    in the order of arrival; the message may be late
 *   expire   a session that was not heard of for its lease loses its locks...
 *   fence    ...but its byte is granted again only when the store refuses it (L4)
 *   restart  the server forgets all; for as long as old leases last it grants only what is
 *            reclaimed, and then has the store refuse all older sessions
 *   freeze   any client may do nothing for any time; what it has sent arrives whenever it likes
 *
 * Time is only what leases say: a client knows that its lease is over before the server does.
 *
 * What is checked, in every state that can be reached:
 *   (L1) the store takes no write of one client while the server has promised the byte to another;
 *   (L2) who waits holds nothing;
 *   (L3) grants follow the order of arrival;
 *   (L4) a session that held the byte and ended is refused by the store before the next grant;
 *   and no state is a dead end: whoever asks can still be served.
 *
 * Each of NO_FENCE, NO_GRACE and RESUME takes one protection away, and must fail.
 *
 *   spin -a lock_service.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan
 */

#define CLIENTS 3
#define SESSIONS 4 /* that are ever made; 0 is none */
#define RESTARTS 1

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
byte restarts = 0;
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

/* The client gives up what it has; a write of it may still be under way. */
inline lose(c) {
  holds[c] = false;
  waits[c] = false;
  granted[c] = false
}

inline grant_next() {
  if
  :: held_by == 0 && !grace && len(queue) > 0 ->
#ifndef NO_FENCE
     /* (L4) */
     assert((!ended[1] || refused[1]) && (!ended[2] || refused[2]) && (!ended[3] || refused[3]) &&
            (!ended[4] || refused[4]));
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
       !holds[c] && !waits[c] && writing[c] == 0 && session[c] != 0 &&
       live[session[c]] ->
       waits[c] = true;
       lease[c] = true;
       queue ! session[c];
       grant_next()
     }
  :: atomic {
       !holds[c] && !waits[c] && sessions < SESSIONS &&
       (session[c] == 0 || !live[session[c]]) ->
       make_session(c)
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

/* Time passes for the lease of a client. */
proctype Time() {
end:
  do
  :: atomic { lease[0] -> lease[0] = false }
  :: atomic { lease[1] -> lease[1] = false }
  :: atomic { lease[2] -> lease[2] = false }
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
       restarts < RESTARTS ->
       restarts++;
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
       grace && !(holds[0] && lease[0] && session[0] <= first_fenced) &&
       !(holds[1] && lease[1] && session[1] <= first_fenced) &&
       !(holds[2] && lease[2] && session[2] <= first_fenced) ->
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
    run Client(0);
    run Client(1);
    run Client(2);
    run Time();
    run Server()
  }
}
