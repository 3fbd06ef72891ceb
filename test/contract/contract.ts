// Is an answer one that the API's document promises? Asked of the document alone, and not of the code that it was made from.

import Ajv2020 from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { openApiText } from "../../src/openapi/document.ts"

export type Asked = {
  readonly method: string
  /** The path and the query, as they were sent. */
  readonly target: string
  readonly headers: Headers
  /** `null` if it is no text. */
  readonly body: string | null
}

export type Answered = {
  readonly status: number
  readonly headers: Headers
  /** `null` if it was not read, because it may have no end. */
  readonly body: string | null
}

type Schema = Readonly<Record<string, unknown>>
type Reference = { readonly $ref?: string }
type Content = Readonly<Record<string, { readonly schema: Schema }>>
type Header = Reference & { readonly required?: boolean; readonly schema?: Schema }
type Response = Reference & {
  readonly headers?: Readonly<Record<string, Header>>
  readonly content?: Content
}
type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}
export type OperationObject = {
  readonly operationId: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}
type PathItem = Readonly<Record<string, OperationObject>>
type Document = { readonly paths: Readonly<Record<string, PathItem>>; readonly components: unknown }

/** Headers of HTTP itself, which the document of an API does not name. */
const OF_HTTP = ["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"]

export const DOCUMENT = JSON.parse(openApiText()) as Document

const ajv = new Ajv2020({ strict: false })
addFormats(ajv)
// The document leaves room for members of later versions. This version has none of them.
ajv.addSchema({ $id: "answers", ...closed(DOCUMENT) })
ajv.addSchema({ $id: "requests", ...DOCUMENT })

/** Everything about the answer that the document does not say. Each sentence begins with what was asked. */
export function faultsOf(asked: Asked, answered: Answered): string[] {
  const name = `${asked.method} ${asked.target} is answered ${answered.status}`
  return faults(asked, answered).map((fault) => `${name}: ${fault}`)
}

function faults(asked: Asked, answered: Answered): string[] {
  const found = itemOf(asked.target)
  if (found === null) return faultsOfUnknown(asked, answered)
  const { template, item } = found
  // A method that OpenAPI has no word for.
  const other = template.startsWith("/authz") ? "get" : ""
  const operation = item[asked.method.toLowerCase()] ?? item[other]
  if (operation === undefined) return faultsOfMethod(asked.method, item, answered)
  const response = operation.responses[answered.status]
  if (response === undefined) return [`${operation.operationId} has no such answer`]
  return [
    ...faultsOfResponse(asked.method, response, answered),
    ...(answered.status < 300 ? faultsOfTaken(operation, asked) : []),
  ]
}

function itemOf(target: string): { template: string; item: PathItem } | null {
  const raw = target.replace(/\?.*$/s, "")
  // Below /api dots are resolved in what the server reads: a path that leads to another operation by that is none.
  const resolved = raw.startsWith("/api/") ? new URL(`http://gate.test${raw}`).pathname : raw
  const found = itemOfPath(raw)
  return found !== null && itemOfPath(resolved)?.template === found.template ? found : null
}

function itemOfPath(path: string): { template: string; item: PathItem } | null {
  for (const [template, item] of Object.entries(DOCUMENT.paths)) {
    if (path.startsWith("/api/") && !needsToken(item)) continue
    const brace = template.indexOf("{")
    const isIt =
      brace === -1
        ? path === template
        : path.startsWith(template.slice(0, brace)) && !(path in DOCUMENT.paths)
    if (isIt) return { template, item }
  }
  return null
}

function needsToken(item: PathItem): boolean {
  return Object.values(item).every(({ security }) => security === undefined)
}

function faultsOfUnknown({ target, method }: Asked, answered: Answered): string[] {
  const isGuarded = /^\/api($|[/?])/.test(target)
  if (answered.status === 401 && isGuarded) {
    return faultsOfResponse(method, { $ref: "#/components/responses/Unauthorized" }, answered)
  }
  if (answered.status !== 404) return ["the document does not have this path"]
  return answered.headers.get("Cache-Control") === "no-store" ? [] : ["it may be cached"]
}

function faultsOfMethod(method: string, item: PathItem, answered: Answered): string[] {
  const [response] = Object.values(item).map(({ responses }) => responses[answered.status])
  const isExpected = answered.status === 405 || (answered.status === 401 && needsToken(item))
  if (response === undefined || !isExpected) {
    return ["the document does not have this method"]
  }
  const allow = answered.headers.get("Allow")
  const methods = Object.keys(item).map((method) => method.toUpperCase())
  const isSame = answered.status === 401 || allow?.split(", ").toSorted().join() === methods.toSorted().join()
  return [
    ...faultsOfResponse(method, response, answered),
    ...(isSame ? [] : [`Allow says ${allow}, the document has ${methods}`]),
  ]
}

function faultsOfResponse(method: string, given: Response, answered: Answered): string[] {
  const { headers = {}, content } = resolved(given)
  return [...faultsOfHeaders(headers, answered), ...faultsOfBody(method, content, answered)]
}

function faultsOfHeaders(documented: NonNullable<Response["headers"]>, answered: Answered): string[] {
  const names = Object.keys(documented).map((name) => name.toLowerCase())
  const unknown = [...answered.headers.keys()].filter(
    (name) => !OF_HTTP.includes(name) && !names.includes(name),
  )
  const wrong = Object.entries(documented).flatMap(([name, given]) => {
    const { required = false, schema = {} } = resolved(given)
    const value = answered.headers.get(name)
    if (value === null) return required ? [`${name} is missing`] : []
    return mismatch(schema, value, `${name}: ${value}`, "answers")
  })
  return [...unknown.map((name) => `the document does not have the header ${name}`), ...wrong]
}

function faultsOfBody(method: string, content: Content | undefined, answered: Answered): string[] {
  const type = answered.headers.get("Content-Type")?.split(";")[0] ?? null
  if (method === "HEAD") return answered.body === "" ? [] : ["HEAD has a body"]
  if (content === undefined)
    return type === null && !answered.body ? [] : ["it has a body that is not documented"]
  const media = type === null ? undefined : content[type]
  if (media === undefined) return [`the document does not have the content type ${type}`]
  if (answered.body === null) return []
  const value: unknown = type === "application/json" ? JSON.parse(answered.body) : answered.body
  return mismatch(media.schema, value, "the body", "answers")
}

/** What the server took must be what the document tells clients to send, or the document is narrower than the server. */
function faultsOfTaken({ parameters = [], requestBody, security }: OperationObject, asked: Asked): string[] {
  const query = new URLSearchParams(asked.target.split("?")[1])
  const values = {
    query: (name: string) => query.get(name),
    header: (name: string) => asked.headers.get(name),
  }
  const ofParameters = parameters
    .filter(({ in: place }) => place === "query" || place === "header")
    .flatMap(({ name, in: place, schema, required = false }) => {
      const text = values[place as keyof typeof values](name)
      if (text === null) return required && place === "query" ? [`it was taken without ${name}`] : []
      return mismatch(schema, schema.type === "integer" ? Number(text) : text, `${name}=${text}`, "requests")
    })
  const json = requestBody?.content["application/json"]
  const ofBody =
    json === undefined || asked.body === null
      ? []
      : mismatch(json.schema, JSON.parse(asked.body), "the body that was taken", "requests")
  const isTokenMissing = security === undefined && !/^bearer /i.test(asked.headers.get("Authorization") ?? "")
  return [...ofParameters, ...ofBody, ...(isTokenMissing ? ["it wants no token"] : [])]
}

/** Follows a reference within the document. */
function resolved<T extends Reference>(given: T): T {
  if (given.$ref === undefined) return given
  const names = given.$ref.replace("#/", "").split("/")
  return names.reduce(
    (at, name) => at[name] as Record<string, unknown>,
    DOCUMENT as Record<string, unknown>,
  ) as T
}

type Validate = ReturnType<typeof ajv.compile>
const validators = new Map<string, Validate>()

function mismatch(schema: Schema, value: unknown, what: string, side: "answers" | "requests"): string[] {
  const key = `${side} ${JSON.stringify(schema)}`
  const known = validators.get(key)
  const validate =
    known ?? ajv.compile(absolute(side === "answers" ? closed(schema) : schema, side) as Schema)
  if (known === undefined) validators.set(key, validate)
  return validate(value) ? [] : [`${what}: ${ajv.errorsText(validate.errors)}`]
}

/** The same schema with references that hold outside of the document. */
function absolute(value: unknown, base: string): unknown {
  return rewritten(value, (member) =>
    typeof member.$ref === "string" ? { ...member, $ref: `${base}${member.$ref}` } : member,
  )
}

/** The same schemas, whose objects have no members but those that are named. */
function closed<T>(value: T): T {
  return rewritten(value, (member) =>
    "properties" in member && "required" in member ? { ...member, additionalProperties: false } : member,
  ) as T
}

function rewritten(value: unknown, change: (object: Record<string, unknown>) => object): unknown {
  if (Array.isArray(value)) return value.map((item) => rewritten(item, change))
  if (typeof value !== "object" || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, rewritten(member, change)])
  return change(Object.fromEntries(members))
}
