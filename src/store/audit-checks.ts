// What the schema lets into the log, for its CHECKs and for who asks later whether they hold. Part of a released migration,
// so none of it ever changes.

export const AUDIT_CHECKS = {
  at: "at BETWEEN -8640000000000000 AND 8640000000000000",
  action: "action IN ('add_temp', 'delete_temp', 'add_perm', 'delete_perm', 'expire_temp')",
  ttlSeconds: "ttl_seconds BETWEEN 1 AND 315360000",
} as const
