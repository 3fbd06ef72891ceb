// The catalogue: everything that is known to go wrong with a gate like this one, and what must happen then.

export type CatalogueRow = {
  /** A letter for the chapter and two digits, such as `A-03`. It is never given to another row. */
  readonly id: string
  /** The fault or the attack. */
  readonly fault: string
  readonly expected: string
}

/** The chapters in their order, by the letter of their ids. */
export const CHAPTERS: Readonly<Record<string, string>> = {
  A: "Addresses and matching",
  H: "The contract with the proxy",
  T: "Limits of the HTTP server",
  B: "Tokens and the API",
  J: "Input of the API",
  L: "Logs and terminals",
  D: "The database",
  C: "Clocks and lifetimes",
  P: "The life of the process",
  M: "Several processes and nodes",
  S: "Build and supply",
}

const TEXT = `
A-01 | octal, hexadecimal, and IPv4 of one to three parts | 401 and 400, nothing stored
A-02 | leading zeros in an octet, also in the tail of an IPv6 address | as A-01
A-03 | an IPv4-mapped client and an IPv4 entry, and the reverse | they match, in every spelling
A-04 | a listed IPv4 address inside of another kind of IPv6 address (compatible, NAT64, 6to4, Teredo, ISATAP) | 401
A-05 | zone ids, also very long ones | 401 and 400, at once
A-06 | a port, brackets, a list, quotes, or RFC 7239 text around the address | 401
A-07 | digits and separators of Unicode, byte order marks, spaces of no width | 401 and 400
A-08 | a control byte before or after a good address | 401 or 400
A-09 | a network with host bits | 400, both meanings named, nothing stored
A-10 | prefix lengths such as /08, /+8, /0x8, /1e1, 2^32 + 8 | 400
A-11 | traps of 32 bits: /0, /1, /31, /32 and both ends of a network | the verdict of arithmetic without a limit
A-12 | the index disagrees with a plain list | never
A-13 | overlapping entries that go in any order | a match exactly as long as one covers the client
A-14 | one network stored twice under two spellings, so that one removal leaves it | impossible
A-15 | a canonical text that changes when it is read again | never
A-16 | networks as wide as a family | the API takes them, the CLI asks for --force, and no family lets in the other
A-17 | a bare IPv6 address taken for a network | one address only
A-18 | a mapped network shorter than /96 | matches no IPv4 client, and never everybody
A-19 | a megabyte of text that makes a regular expression slow | refused at once
A-20 | an ip that is a number, a list, an object, a boolean or null | 400, never 500
A-21 | a row of the database that is no network | lets nobody in, is logged, disturbs no other row
H-01 | a handler returns no Response, of which Bun makes a 204 | 500
H-02 | an exception in a handler, in time or later, or in the error handler | 500 (403 of /authz), no word of the inside
H-03 | the error page of Bun's development mode | never, whatever NODE_ENV says
H-04 | no address header, or an empty one | 401
H-05 | two address headers | 401, even if both are listed
H-06 | an address header with an underscore, with a space before the colon, or folded | not read, or 400
H-07 | another header than the one that is read names a listed address | 401
H-08 | somebody asks /auth directly, past the proxy | 401 unless the peer is trusted; serve refuses a wide listener
H-09 | a list of trusted proxies that trusts everybody by default | loopback and the unix socket alone
H-10 | a proxy that passes on the address header of the visitor | the shipped configuration overwrites it
H-11 | the same over IPv6 | the same verdicts over both families
H-12 | a listener for both families, which reports ::ffff: addresses | the IPv4 entry decides
H-13 | a proxy on a unix socket, whose client address is "unix:" | 401
H-14 | a proxy that asks a wrong path | only /status lets everybody in, and the docs say so
H-15 | any other method than GET | 405 with Allow, or no answer
H-16 | a proxy that sends the visitor's own method and path | /authz decides as /auth does
H-17 | tricks with the path: dots, doubled slashes, escapes, case, fragments | /auth alone is /auth
H-18 | a hostile or a doubled Host header | the verdict of a good one, never 500
H-19 | a GET with a body, or one that announces a gigabyte | answered without waiting for it
H-20 | more cookies than the server takes | a listed client still gets in through the shipped configuration
H-21 | request smuggling | 400 and the end of the connection, no second request
H-22 | requests behind each other without waiting | answers in order
H-23 | an answer with a body or in chunks, which costs the proxy its connection | none; the connection is used again
H-24 | an answer that somebody caches | no-store, no validator; a removal holds for the next request
H-25 | ipgate is stopped, killed, hangs, or listens elsewhere | an error for the visitor, never the page
H-26 | an error page that turns a 401 into a 200 | not with the shipped configuration
H-27 | the proxy and the gate see two different paths | the decision reads no path
H-28 | identity headers that go through the proxy | ipgate sends none
H-29 | nginx's "satisfy any" beside ipgate | documented; ipgate cannot see it
H-30 | a challenge that the proxy hands to browsers | /auth sends none
H-31 | a way around the gate for health checks or user agents | none
T-01 | headers that come a byte at a time | the connection ends; others are served
T-02 | bodies that come a byte at a time | the connection ends; others are served
T-03 | a client that does not read its answer | memory is bounded; others are served
T-04 | a body over the limit | 413 and the end of the connection
T-05 | Expect: 100-continue without a token | 401
T-06 | no descriptor is left | /auth goes on over the connections that there are, and it recovers by itself
T-07 | no descriptor is left, and the database needs one | /auth stays right, changes are refused or durable, and it recovers
T-08 | TLS, HTTP/2, HTTP/0.9 or noise on the port | 400 or 505 and the end of the connection
T-09 | text of the user in an answer | plain text, escaped, cut
T-10 | 2,000 connections at once | all are served, and so is the one before them
T-11 | a million requests over the same connections | no growth of memory
B-01 | no token | 401 with WWW-Authenticate: Bearer
B-02 | a wrong token | the same answer to the byte
B-03 | other spellings of the Authorization header | the scheme in any case and spaces; else 401
B-04 | two Authorization headers | 401, even if both are right
B-05 | the token in the query or the body | 401, and not logged
B-06 | a token that is empty, short, or missing in the configuration | made on the first start, else exit 78; the request is 401
B-07 | tokens of another length | 401, never 500
B-08 | a comparison whose time tells how much was right | no difference
B-09 | the token in other files, arguments or logs | in its own file alone
B-10 | the token is changed, and the process dies on the way | one valid token at every moment
B-11 | a token that may only read is used to write | refused
B-12 | thousands of wrong tokens | bounded memory; the right one is served at once
B-13 | a request without a token and with other mistakes | 401 first
B-14 | requests from web pages | no cookie, no permission for other origins
B-15 | /status tells more than it should | five fields
B-16 | routes that nobody documented, work without a bound | one list of routes, and limits
J-01 | lifetimes that are no whole number of seconds in range | 400, nothing stored
J-02 | a lifetime beyond the calendar | 400; a list is never 500
J-03 | an integer in the database that the driver cannot read | cannot be written; if it is there, it does not break a list
J-04 | integers stored as floating point | strict columns
J-05 | a member of a JSON object twice | 400
J-06 | __proto__ and constructor as members | 400, and no object is changed
J-07 | JSON of another shape, and what is no JSON | 400
J-08 | bytes that are no UTF-8, and half surrogate pairs | 400
J-09 | JSON thousands of levels deep | 400 or 413
J-10 | a reason that is too long or has control characters | 400
J-11 | limit and offset that are no numbers in range | 400, never the whole table
J-12 | filters with wildcards, quotes, or other spellings | 400, or exactly the rows meant
J-13 | an address in the path, escaped in every way | decoded once, or 400
J-14 | the removal of what is not there | 204, no record
J-15 | the removal of an entry that a wider one covers | 204, with a warning of the CLI; still let in
J-16 | fifty requests at once for one permanent entry | one 204, 49 times 409, one row, one record
J-17 | an entry is renewed at the moment when it ends | acknowledged and there, or refused
J-18 | a change is acknowledged before it holds | the very next /auth knows it
J-19 | a change without its record, or a record without its change | never
J-20 | answers that are not documented | never
L-01 | escape sequences in reasons, addresses, headers and file names | escaped in every output
L-02 | line feeds that forge log lines | one record, one line
L-03 | formulas in exported CSV | disarmed
L-04 | wide, combining and zero-width text in columns | cut by cells, no line breaks
L-05 | a flood of refused requests fills the log | a sum now and then, no record
L-06 | standard output that is closed, full, or not read | the server goes on
L-07 | exit codes and half an output | not 0 after any failure; JSON is whole
L-08 | secrets in help texts, errors and arguments | none
D-01 | kill -9 at any moment | every acknowledged change is there, no half one
D-02 | a power cut | every acknowledged change survives
D-03 | settings lost on a second connection | one connection, with the right settings
D-04 | stale reads after a busy database | not reachable: the server owns the file
D-05 | an acknowledged change that is lost | never
D-06 | a write lock that is stuck | --offline works as soon as the server has ended
D-07 | a long import by another process | through the server, in turns with others
D-08 | a slow query blocks decisions | the database has a thread of its own
D-09 | SQLite's WAL reset fault with two writers | a second process is refused
D-10 | a full disk | changes refused, decisions right, recovery when there is space
D-11 | a full disk while the log is cut, a migration runs, or the WAL is copied back | no entry is lost
D-12 | an I/O error of a read, a write or an fsync | refused, degraded, decisions go on; nothing is acknowledged after it unverified
D-13 | a file system that is read-only | a clear message at the start; at run time changes are refused
D-14 | the file is removed, replaced or renamed under the server | noticed; changes are refused
D-15 | a file that is damaged, cut, empty, or of somebody else | refused, and left as it is
D-16 | an empty database after a wrong path | made as on a first start, and said loudly
D-17 | an old copy is restored | what has ended stays out, and is recorded once
D-18 | a copy of the file while it is written | documented ways to copy; each is one state
D-19 | a migration that is killed, an older program on a newer file | old version whole; refused
D-20 | the log is cut while the process is killed | never more rows than the limit and one group; the oldest go
D-21 | a million entries | decisions, start and memory within their bounds
D-22 | a write-ahead log that grows without end | bounded
D-23 | two servers on one file | the second one is refused
D-24 | a network file system, or a link to the file | refused or right
D-25 | files that others can read | 0600 and 0700, whatever the umask
D-26 | two SQLite libraries on one file | never
D-27 | entries that ended while the server was down | one record each, at their own time
C-01 | the wall clock is set back while an entry is active | it ends after its lifetime at the latest
C-02 | the wall clock is set forward, and back | the entry ends at once, once, and does not come back
C-03 | a start after the clock was set back | the entry does not live longer than it was promised, or it is documented
C-04 | the process is stopped beyond the end of an entry | the first answer afterwards is 401
C-05 | the event loop is late | the decision looks at the clock itself
C-06 | lifetimes longer than a timer can wait | neither early nor busy
C-07 | the moment of the end, to the millisecond | let in before it, not at it
C-08 | many entries end in one second | no stall, every record
C-09 | a clock before 1970 or after 9999 | no temporary entry with a wrong end
C-10 | clocks of nodes that differ | a documented bound, a warning
C-11 | time zones, summer time, leap seconds | no effect
P-01 | SIGTERM under load | what arrived is answered, exit 0
P-02 | SIGTERM during a change, a second one, SIGINT, SIGHUP | as P-01; the second ends at once; SIGHUP never kills
P-03 | a request that never ends | does not keep the server from stopping
P-04 | a listener before the lists are loaded | never
P-05 | loading fails half way | no start, no partial list
P-06 | an error that nobody caught | logged; the process ends or its state is sound
P-07 | no memory is left | killed, restarted, data whole
P-08 | readiness and watchdog of systemd | from the loop that serves
P-09 | a port in use, a bad configuration, an unknown key | one clear line, its exit code
P-10 | a reload with a bad file | the old configuration stays
P-11 | starts that fail over and over | nothing is written
P-12 | a hostile working directory or environment | no effect, or documented
P-13 | a server that runs as root | a warning; the unit has a user of its own
M-01 | the CLI removes an entry while the server runs | the very next /auth is 401; --offline is refused
M-02 | a change of another node that is missed | seen after the next synchronisation
M-03 | many changes in a burst | grouped; decisions go on
M-04 | the primary is down at the start | from the replica, or no listener; never empty
M-05 | the primary hangs | every call has a time limit
M-06 | an answer is lost after the commit | an error, and no doubled record
M-07 | the connection to the primary ends | one more try for reads, none for changes
M-08 | a replica that is behind | a stated bound
M-09 | a primary that is away for long | decisions go on, changes are refused
M-10 | a replica that is damaged | set aside and fetched again
M-11 | two nodes end the same entry | one record
M-12 | a primary without authentication | refused beyond loopback
M-13 | the token of the primary in redirects or logs | never
S-01 | another version of Bun behaves in another way | its behaviour is tested against the pinned version
S-02 | the driver is missing in the executable | it runs alone on a bare machine
S-03 | hooks of tests in the released executable | none
S-04 | a release that nobody can verify | checksums; the version names its parts
`

export const CATALOGUE: readonly CatalogueRow[] = TEXT.trim()
  .split("\n")
  .map((line) => {
    const [id = "", fault = "", expected = ""] = line.split(" | ")
    return { id, fault, expected }
  })
