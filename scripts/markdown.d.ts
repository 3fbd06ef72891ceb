// What a Markdown file is to a source that imports it as text.

declare module "*.md" {
  const text: string
  export default text
}
