// The document of the API (OpenAPI 3.1), made from the table of its operations.

import type { JsonSchema } from "../wire/inputs.ts"
import { SCHEMAS } from "./answer-schemas.ts"
import type { Answer, Operation } from "./operation.ts"
import { OPERATIONS } from "./operations.ts"

/** The version of the interface, which is not that of the program. */
const API_VERSION = "1.0.0"

const SECURITY_SCHEME = "bearer"

const DESCRIPTION = `A gate that decides by IP address. A proxy asks GET /auth before each request; everything else manages the two lists that the answer comes from.

All but /auth, /authz and /status wants a token, and answers 401 without one, whatever the path. An unknown path is 404 then. No answer may be cached. Objects of answers may get further members in later versions.`

let written: string | undefined

/** The document as text, the same for every server of this version. Made when it is asked for, and once. */
export function openApiText(): string {
  written ??= `${JSON.stringify(openApiDocument(), null, 2)}\n`
  return written
}

export function openApiDocument() {
  return {
    openapi: "3.1.1",
    info: {
      title: "ipgate",
      version: API_VERSION,
      summary: "An auth gateway that decides by IP address.",
      description: DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ [SECURITY_SCHEME]: [] }],
    paths: pathsOf([
      ...OPERATIONS.open.map((operation) => ({ operation, security: { security: [] } })),
      ...OPERATIONS.guarded.map((operation) => ({ operation, security: {} })),
    ]),
    components: {
      securitySchemes: {
        [SECURITY_SCHEME]: { type: "http", scheme: "bearer", description: "The API token." },
      },
      headers: {
        NoStore: {
          description: "No cache may keep an answer: the next one may differ.",
          required: true,
          schema: { type: "string", const: "no-store" },
        },
      },
      responses: sharedResponses(),
      schemas: SCHEMAS,
    },
  }
}

type Documented = { readonly operation: Operation; readonly security: object }

function pathsOf(all: readonly Documented[]) {
  const paths: Record<string, Record<string, object>> = {}
  for (const { operation, security } of all) {
    const item = paths[operation.path] ?? {}
    paths[operation.path] = item
    item[operation.method.toLowerCase()] = { ...operationObject(operation), ...security }
  }
  return paths
}

function operationObject({ id, summary, description, parameters, body, answers, method }: Operation) {
  return {
    operationId: id,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parameters: parameters.map(parameterObject) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: body.type === "application/json",
            ...(body.description === undefined ? {} : { description: body.description }),
            content: { [body.type]: { schema: body.schema } },
          },
        }),
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [status, response(answer, method === "HEAD")]),
    ),
  }
}

function parameterObject({
  name,
  in: place,
  required,
  description,
  schema,
}: NonNullable<Operation["parameters"]>[number]) {
  return { name, in: place, ...(required ? { required } : {}), description, schema }
}

function response(answer: Answer, isHead: boolean) {
  const { name } = answer
  return name === undefined || isHead
    ? responseObject(answer, isHead)
    : { $ref: `#/components/responses/${name}` }
}

/** The answers that have a name. */
function sharedResponses() {
  const answers = [...OPERATIONS.open, ...OPERATIONS.guarded].flatMap(({ answers }) => Object.values(answers))
  return Object.fromEntries(
    answers.flatMap((answer) =>
      answer.name === undefined ? [] : [[answer.name, responseObject(answer, false)]],
    ),
  )
}

function responseObject({ description, content, headers = {} }: Answer, isHead: boolean) {
  return {
    description,
    headers: {
      "Cache-Control": { $ref: "#/components/headers/NoStore" },
      ...Object.fromEntries(Object.entries(headers).map(([name, schema]) => [name, headerObject(schema)])),
    },
    ...(content === undefined || isHead ? {} : { content: { [content.type]: { schema: content.schema } } }),
  }
}

/** The description of a header belongs to it and not to its schema. */
function headerObject({ description, ...schema }: JsonSchema) {
  return { description, required: true, schema }
}
