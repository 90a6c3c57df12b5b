--- The first method that a language client is asked for each type of question. Missing types are asked in a way of their own.

---@type table<string, string>
return {
  definition = "textDocument/definition",
  typeDefinition = "textDocument/typeDefinition",
  implementation = "textDocument/implementation",
  references = "textDocument/references",
  hover = "textDocument/hover",
  documentSymbols = "textDocument/documentSymbol",
  workspaceSymbols = "workspace/symbol",
  incomingCalls = "textDocument/prepareCallHierarchy",
  outgoingCalls = "textDocument/prepareCallHierarchy",
  supertypes = "textDocument/prepareTypeHierarchy",
  subtypes = "textDocument/prepareTypeHierarchy",
  rename = "textDocument/rename",
  format = "textDocument/formatting",
  codeActions = "textDocument/codeAction",
  codeAction = "textDocument/codeAction",
}
