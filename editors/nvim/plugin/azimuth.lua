-- The code that Neovim loads at start. All else is loaded when it is first used.
if vim.g.loaded_azimuth then
  return
end
vim.g.loaded_azimuth = true

vim.api.nvim_create_user_command("Azimuth", function(args)
  require("azimuth.command").run(args)
end, {
  nargs = "*",
  range = true,
  bang = true,
  desc = "Azimuth, a coding agent",
  complete = function(lead, line)
    return require("azimuth.command").complete(lead, line)
  end,
})

-- The reports of language servers on a document are noted from their first word on.
vim.api.nvim_create_autocmd("LspAttach", {
  once = true,
  callback = function()
    require("azimuth.lang.diagnostics").watch()
  end,
})

-- `setup` before or after this may say otherwise.
require("azimuth.mappings").set()
